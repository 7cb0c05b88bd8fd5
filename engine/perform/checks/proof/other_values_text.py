"""Functions of JavaScript and Go that answer other values of the same type (`other_values`). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.perform.checks.proof.gutted_text import Body, bodies

LANGUAGES = frozenset({"javascript", "go"})
_HELPER = """
var __zzFirst;
function __zzOther(value, deep, name) {
  if (value && typeof value.then === "function") return value.then((one) => __zzOther(one, 0, name));
  if ("@SORT@" === "first" || "@SORT@" === "else") {
    if (typeof value === "function" || (value && typeof value === "object" && !Array.isArray(value))) return value;
    __zzFirst = __zzFirst || new Map();
    name = name + ":";
    if (!__zzFirst.has(name)) __zzFirst.set(name, value);
    const first = __zzFirst.get(name);
    if (JSON.stringify(first) === JSON.stringify(value)) return value;
    __zzFirst.set(name + JSON.stringify(value), value);
    const others = [...__zzFirst.keys()].filter((key) => String(key).startsWith(name) && key !== name).length;
    if ("@SORT@" === "else" && others > 1) throw new Error("taken out");
    return first;
  }
  const plain = value && typeof value === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(value));
  if (!["number", "string", "boolean"].includes(typeof value) && !Array.isArray(value) && !plain) return value;
  if (deep > 6) return value;
  if ("@SORT@" === "error") throw new Error("taken out");
  if ("@SORT@" === "backwards") return Array.isArray(value) ? [...value].reverse() : value;
  if ("@SORT@" === "off") {
    if (typeof value === "number") return value + (Number.isInteger(value) ? Math.floor(value / 50) : value * 0.02) + 1;
    if (Array.isArray(value)) return value.map((one) => __zzOther(one, (deep || 0) + 1));
    if (!plain) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, __zzOther(one, (deep || 0) + 1)]));
  }
  const more = "@SORT@" === "longer" ? 1 : 0;
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return Number.isNaN(value) ? 0 : value * 7 + (value < 0 ? -13 : 13);
  if (typeof value === "string") return (/^~*$/.test(value) ? "^" : "~").repeat(value.length + more || 1);
  if (Array.isArray(value)) {
    const found = value.map((one) => __zzOther(one, (deep || 0) + 1));
    return more || !found.length ? [...found, "~"] : found;
  }
  const found = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, __zzOther(one, (deep || 0) + 1)]));
  return more || !Object.keys(found).length ? { ...found, "~": null } : found;
}
"""
_NUMBERS = re.compile(r"u?int(?:8|16|32|64)?|float(?:32|64)|byte|rune")

_GO_TEST = re.compile(rb"\bfunc(?:[ \t]+\w+)?\(\s*(?!_\W)(\w+)[ \t]+\*testing\.T\s*\)[ \t]*\{")


def failing_alone(test: bytes) -> bytes:
    """Tests of Go in which a panic is a failure of the one that it came to, and no end of the process."""
    heard = rb'\g<0> defer func() { if zz := recover(); zz != nil { \1.Errorf("panic: %v", zz) } }();'
    return _GO_TEST.sub(heard, test)


def otherwise(before: bytes, after: bytes, language: str, sort: str) -> bytes | None:
    """`after` with its new and altered functions answering other values; None where there are none."""
    try:
        old, new = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        return None
    had = {(one.name, one.text) for one in bodies(old, language, "")}
    fresh = [one for one in bodies(new, language, "") if (one.name, one.text) not in had]
    made, behind = new, len(new) + 1
    for one in sorted(fresh, key=lambda one: -one.end):
        inner = any(other.start < one.start and one.end < other.end for other in fresh)
        instead = None if inner or one.end > behind else _instead(new, one, language, sort)
        if instead is not None:
            made = made[: one.start] + instead + made[one.end :]
            behind = one.start
    if made == new:
        return None
    return (made + (_HELPER.replace("@SORT@", sort) if language == "javascript" else "")).encode()


def _instead(text: str, one: Body, language: str, sort: str) -> str | None:
    body = text[one.start : one.end]
    if sort == "at once" and body.startswith("{"):
        if language == "go":  # what it imports and names has to be used still
            return f'{{ if len("taken out") > 0 {{ panic("taken out") }}; {body[1:]}'
        return '{ throw new Error("taken out"); }'
    if sort == "at once":
        return None
    if language == "go":
        return _go(text, one, body, sort)
    if not body.startswith("{"):
        return f"__zzOther({body}, 0, {one.start})" if "await" not in body else None
    if re.search(r"\byield\b|\bsuper\b", body) or not re.search(r"\breturn\b", body):
        return None
    waits = "async " if re.search(r"\bawait\b", body) else ""
    if text[: one.start].rstrip().endswith("=>"):
        return f"{{ return __zzOther(({waits}() => {body})(), 0, {one.start}); }}"
    return f"{{ return __zzOther(({waits}function () {body}).apply(this, arguments), 0, {one.start}); }}"


def _go(text: str, one: Body, body: str, sort: str) -> str | None:
    if not one.results or sort in ("first", "else", "backwards", "off"):
        return None
    types = [re.sub(r"^[A-Za-z_]\w*\s+(?=[\w*\[(.])", "", part.strip()) for part in _parts(one.results)]
    if any(not kind for kind in types) or re.search(r"\brecover\(", body):
        return None
    names = [f"zz{number}" for number in range(len(types))]
    others = [_other(name, kind, sort == "longer") for name, kind in zip(names, types, strict=True)]
    if not any(others):
        return None
    if sort == "error":
        return f'{{ func() {one.results} {body}(); panic("taken out") }}'
    answers = ", ".join(other or name for name, other in zip(names, others, strict=True))
    return f"{{ {', '.join(names)} := func() {one.results} {body}(); return {answers} }}"


def _parts(results: str) -> Iterator[str]:
    """Of `int`, `(int, error)`, `(n, m int)`: one type a result."""
    if not results.startswith("("):
        yield results
        return
    parts = re.split(r",(?![^\[(]*[\])])", results[1:-1])
    named = any(re.match(r"\s*[A-Za-z_]\w*\s+[\w*\[(.]", part) for part in parts)
    kind = ""
    for part in reversed(parts) if named else ():
        match = re.match(r"\s*[A-Za-z_]\w*\s+(.+)", part)
        kind = match[1] if match else kind
        parts[parts.index(part)] = kind
    yield from parts


def _other(name: str, kind: str, more: bool) -> str:
    """Another value of this type; empty where none is known."""
    longer = ' + "~"' if more else ""
    if kind == "string":
        made = f'o := ""{longer}; for range {name} {{ o += "~" }}; if o == "" || o == {name} {{ o += "^" }}'
        return f"func() string {{ {made}; return o }}()"
    if kind == "bool":
        return f"!{name}"
    if _NUMBERS.fullmatch(kind):
        return f"{name}*7 + 13"
    if kind.startswith("[]") and (inner := _other("one", kind[2:], more)):
        filler = f"; {{ var one {kind[2:]}; o = append(o, {inner}) }}"
        last = filler if more else f"; if len({name}) == 0 {{ var one {kind[2:]}; o = append(o, {inner}) }}"
        made = f"o := {kind}{{}}; for _, one := range {name} {{ o = append(o, {inner}) }}{last}"
        return f"func() {kind} {{ {made}; return o }}()"
    return ""
