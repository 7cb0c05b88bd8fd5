"""Paths as git has them (bytes) and as the rest of the engine has them (text that survives JSON and a screen).

A path that is plain printable UTF-8 is itself. Any other is written the way git writes it in its own output:
in double quotes, with backslash escapes and octal bytes. The two functions are inverses of each other.
"""

from __future__ import annotations

import re

_SHORT = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_LONG = {text: byte for byte, text in _SHORT.items()}
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)


def shown(path: bytes) -> str:
    """The text form of a path."""
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and text.isprintable() and not text.startswith('"'):
        return text
    out = ['"']
    for byte in path:
        if byte in _SHORT:
            out.append("\\" + _SHORT[byte])
        elif 32 <= byte < 127:
            out.append(chr(byte))
        else:
            out.append(f"\\{byte:03o}")
    out.append('"')
    return "".join(out)


def raw(path: str) -> bytes:
    """The bytes of a path in its text form."""
    if len(path) < 2 or not (path.startswith('"') and path.endswith('"')):
        return path.encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(_unescape, path[1:-1].encode("utf-8", "surrogateescape"))


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match.group(1)
    if len(code) == 3:
        return bytes([int(code, 8) & 0xFF])
    return bytes([_LONG.get(code.decode("latin-1"), code[0])])
