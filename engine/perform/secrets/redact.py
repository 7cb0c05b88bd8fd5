"""Takes secrets out of text before it is stored or shown: values the engine knows, and the shapes of well-known keys.

Not covered, and said so: a secret that was encoded (base64, hex) or split before it was printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

Raw = bytes  # the name is a method below

MARK = "‹redacted›"
"""Its first character is in no key shape and is cut out of known values, so that redacting twice changes nothing."""

SHORTEST = 8
LONGEST = 4096
"""A longer value is known by its beginning and by its lines."""

_TOKEN = 512
_BLOCK = 16_384
_MARK = MARK.encode()
_HEADER = b"-----BEGIN "
_LOOK_BACK = 16
"""Bytes before a secret that its shape looks at, and more."""

_SHAPES = (
    # Each begins with a fixed text, which makes the search fast, and has a longest length, which bounds what a stream
    # holds back. `sk-` and the like must not be the end of a word (task-…).
    rb"sk-(?<![A-Za-z0-9]sk-)[A-Za-z0-9_\-]{16,400}",
    rb"sk_(?<![A-Za-z0-9]sk_)(?:live|test)_[A-Za-z0-9]{16,200}",
    rb"rk_(?<![A-Za-z0-9]rk_)(?:live|test)_[A-Za-z0-9]{16,200}",
    *(rb"gh%c_[A-Za-z0-9]{30,255}" % kind for kind in b"pousr"),
    rb"github_pat_[A-Za-z0-9_]{40,255}",
    rb"glpat-[A-Za-z0-9_\-]{20,100}",
    rb"AKIA(?<![A-Za-z0-9]AKIA)[A-Z0-9]{16}",
    rb"ASIA(?<![A-Za-z0-9]ASIA)[A-Z0-9]{16}",
    rb"AIza(?<![A-Za-z0-9]AIza)[A-Za-z0-9_\-]{35}",
    rb"ya29\.[A-Za-z0-9_\-.]{20,400}",
    rb"xox[abeoprs]-[A-Za-z0-9\-]{10,250}",
    rb"hf_(?<![A-Za-z0-9]hf_)[A-Za-z0-9]{30,100}",
    rb"npm_(?<![A-Za-z0-9]npm_)[A-Za-z0-9]{36}",
    rb"pypi-[A-Za-z0-9_\-]{40,400}",
    rb"SG\.[A-Za-z0-9_\-]{16,64}\.[A-Za-z0-9_\-]{16,64}",
    rb"eyJ[A-Za-z0-9_\-]{8,200}\.eyJ[A-Za-z0-9_\-]{8,200}\.[A-Za-z0-9_\-]{8,100}",
)
_GUARD = re.compile(rb"\(\?<!\[A-Za-z0-9\]\w+-?\)")
_PRECEDED = (
    # (a fast look whether there can be one, the shape that looks back at what must stand before it)
    (rb"earer [A-Za-z0-9]", rb"(?<=earer )[A-Za-z0-9._~+/=\-]{16,500}"),
    (rb"://[A-Za-z0-9._%+:!$&*=~\-]{4,301}@", rb"(?<=://)[A-Za-z0-9._%+\-]{0,100}:[A-Za-z0-9._%+!$&*=~\-]{3,200}(?=@)"),
)
_KEY_BLOCK = (
    rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rb"[A-Za-z0-9+/=\s\\:,.\-]{0,16000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
)
_SECRET_NAME = re.compile(
    r"(?i)(?:key|token|secret|passw|passphrase|credential|auth|cookie|session|dsn|private|signature)"
)
_PUBLIC = re.compile(r"XDG_.*|DBUS_.*|DESKTOP_.*|SESSION_MANAGER|GPG_KEY|WINDOWID|KEYBOARD.*|PYTHON_.*|.*_SOCK")
"""Variables of the desktop and of well-known images: their names sound so, and everybody may know them."""
_ORDINARY = re.compile(r"(?:[~./].*|true|false|\d{1,12}|[a-z]{1,12}://[^:@\s]*)", re.IGNORECASE | re.DOTALL)


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables whose name sounds secret, or which look like a key; not paths, numbers and switches."""
    shapes = Redactor(())
    return tuple(
        value
        for name, value in environment.items()
        if len(value) >= SHORTEST
        and (
            (_SECRET_NAME.search(name) and not _PUBLIC.fullmatch(name) and not _ORDINARY.fullmatch(value))
            or shapes.text(value) != value
        )
    )


class _Finder:
    """One shape: a fast look whether it can be there, and where it is next."""

    def __init__(self, look: Raw, shape: Raw) -> None:
        self.look = re.compile(_GUARD.sub(b"", look))
        self._shape = re.compile(shape)
        free = _GUARD.sub(b"", shape)
        self._free = re.compile(free) if free != shape else None

    def next(self, data: Raw, begin: int, after: bool) -> tuple[int, int] | None:
        found = self.joined(data, begin) if after else None
        if found:
            return found
        match = self._shape.search(data, begin)
        # One that is held off only by what stands before it is kept in mind.
        return match.span() if match else (len(data), len(data)) if self._free else None

    def joined(self, data: Raw, at: int) -> tuple[int, int] | None:
        """Right here, whatever stands before it."""
        match = self._free.match(data, at) if self._free else None
        return match.span() if match else None


class Redactor:
    """Knows the secrets of one run."""

    def __init__(self, values: Iterable[str]) -> None:
        literals = sorted({form.encode() for value in values for form in forms(value)}, key=lambda x: (-len(x), x))
        self.reach = max([_TOKEN + 2, *map(len, literals)])
        """No secret but a key block is longer than this."""
        # The mark itself comes first: a known value that looks like a part of it finds nothing there.
        plain = (re.escape(_MARK), *map(re.escape, literals), _KEY_BLOCK, *_SHAPES)
        self._finders = [_Finder(shape, shape) for shape in plain]
        self._finders += [_Finder(look, shape) for look, shape in _PRECEDED]

    def bytes(self, data: Raw) -> Raw:
        """The same with every secret replaced by MARK."""
        return self.settled(data)[0]

    def _secrets(self, data: Raw, begin: int, *, after: bool) -> Iterator[tuple[int, int]]:
        """Where they are: what one search for all shapes would find, but each is searched alone: that is fast.

        `after` says that a secret ends at `begin`. A shape that must not be the end of a word may begin right there:
        else a second look, which sees the mark and not the secret, would find more than the first.
        """
        waiting = []
        for rank, finder in enumerate(self._finders):
            if finder.look.search(data, max(0, begin - _LOOK_BACK)) and (found := finder.next(data, begin, after)):
                waiting.append((*found, rank, finder))
        while waiting:
            start, end, _, _ = min(waiting, key=lambda item: (item[0], item[2]))
            if start == len(data):
                return
            yield start, end
            later = []
            for item in waiting:
                if item[0] > end:
                    found = item[3].joined(data, end)
                    later.append((*found, *item[2:]) if found else item)
                elif item[0] == end:
                    later.append(item)
                elif found := item[3].next(data, end, after=True):
                    later.append((*found, *item[2:]))
            waiting = later

    def text(self, text: str) -> str:
        """The same with every secret replaced by MARK."""
        encoded = text.encode("utf-8", "surrogatepass")
        cleaned = self.bytes(encoded)
        return text if cleaned is encoded else cleaned.decode("utf-8", "surrogatepass")

    def stream(self) -> RedactedStream:
        """For chunks cut anywhere; the result is that of the whole."""
        return RedactedStream(self)

    def settled(self, data: Raw, begin: int = 0, *, after: bool = False, last: bool = True) -> tuple[Raw, int, bool]:
        """Redacts from `begin` as far as no later byte can change it: that part, where it ends, whether in a secret."""
        end = len(data) if last else len(data) - self.reach
        if end <= begin:
            return b"", begin, after
        out = []
        at = begin
        for start, stop in self._secrets(data, begin, after=after):
            if start >= end:
                break
            out += [data[at:start], _MARK]
            at = stop
        if not out and last and begin == 0:
            return data, len(data), False
        end = max(end, at)
        if not last:
            # A key block that has begun may still find its end, as long as it is not longer than any.
            header = data.find(_HEADER, max(at, len(data) - _BLOCK), end + len(_HEADER))
            end = header if header >= 0 else end
        return b"".join([*out, data[at:end]]), end, end == at and (bool(out) or after)


class RedactedStream:
    """A stream without its secrets: what may still become one is held back."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""
        self._seen = 0
        self._after = False

    def feed(self, chunk: bytes) -> bytes:
        """What can be passed on now."""
        return self._pass(chunk, last=False)

    def flush(self) -> bytes:
        """The rest; the stream is over."""
        return self._pass(b"", last=True)

    def _pass(self, chunk: bytes, *, last: bool) -> bytes:
        self._held += chunk
        passed, end, self._after = self._redactor.settled(self._held, self._seen, after=self._after, last=last)
        keep = max(0, end - _LOOK_BACK)
        self._held, self._seen = self._held[keep:], end - keep
        return passed


def forms(value: str) -> Iterable[str]:
    """A value as it may be printed: plain, inside JSON, inside an address, line by line."""
    for part in (value, *(value.splitlines() if "\n" in value else ())):
        for piece in re.split(f"[{MARK[0]}{MARK[-1]}]", part):
            short = piece.strip()[:LONGEST]
            if len(short) >= SHORTEST:
                yield from (short, quote(short, safe=""))
                yield from (json.dumps(short, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
