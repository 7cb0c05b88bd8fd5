"""The projects: where each comes from, how its environment is made, and a place in it that its own tests watch.

`broken` is (file, text, wrong text): with it the project's own tests fail. It is planted as a bug to be fixed, and it
is the wrong change that must not be accepted. What is added comes with a test in the project's own manner.
"""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.foreign.fetch import environment, node_modules, unpacked

PYTEST = "from {module} import devteam_added\n\n\ndef test_devteam_added():\n    assert devteam_added(2) == 3\n"
UNITTEST = (
    "import unittest\nfrom {module} import devteam_added\n\n\nclass AddedTest(unittest.TestCase):\n"
    "    def test_added(self):\n        self.assertEqual(devteam_added(2), 3)\n"
)
PY_ADDED = "\n\ndef devteam_added(number):\n    return number + 1\n"
TAPE = "var test = require('tape');\nvar added = require('{module}').devteamAdded;\n\ntest('devteam added', function (t) {{\n  t.plan(1);\n  t.equal(added(2), 3);\n}});\n"
JS_ADDED = "\nmodule.exports.devteamAdded = function (number) {\n  return number + 1;\n};\n"


@dataclass(frozen=True)
class Foreign:
    name: str
    what: str
    """What it is here for."""
    make: Callable[[Path], None]
    broken: tuple[str, str, str]
    added: tuple[str, str]
    """(file, text appended): a function that is new."""
    test: tuple[str, str]
    """(new file, its text): the function's test."""
    guard: str
    """The test file that sees `broken`."""
    own: tuple[str, ...]
    """The project's own test command, in the user's checkout."""
    needs: tuple[str, ...] = ()
    ignore: str = ".venv/\n__pycache__/\n*.egg-info/\nnode_modules/\n"
    says: tuple[str, ...] = field(default=())
    """Words that init must say."""


PY = (".venv/bin/python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")


def pip(what: str, *wanted: str, **more: object) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        unpacked("pip", what, folder)
        for name in ("PKG-INFO",):
            (folder / name).unlink(missing_ok=True)
        environment(folder, *(wanted or ("pytest",)), **more)  # type: ignore[arg-type]

    return make


def npm(
    what: str, *wanted: str, files: dict[str, str] | None = None, package: dict[str, object] | None = None
) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        unpacked("npm", what, folder)
        for name, text in (files or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        manifest = json.loads((folder / "package.json").read_text())
        manifest |= package or {}
        (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
        node_modules(folder, *wanted)

    return make


def _go(folder: Path) -> None:
    unpacked("deb", "golang-github-pkg-errors-dev:usr/share/gocode/src/github.com/pkg/errors", folder)
    (folder / "go.mod").write_text("module github.com/pkg/errors\n\ngo 1.18\n")


def _rust(folder: Path) -> None:
    unpacked("deb", "librust-fnv-dev:usr/share/cargo/registry/fnv-1.0.7", folder)
    (folder / ".cargo-checksum.json").unlink(missing_ok=True)


def _monorepo(folder: Path) -> None:
    (folder / "services").mkdir(parents=True)
    unpacked("pip", "inflection==0.5.1", folder / "services" / "api")
    unpacked("npm", "left-pad@1.3.0", folder / "web")
    environment(folder / "services" / "api", "pytest")
    node_modules(folder / "web", "tape@4.17.0")


def _submodule(folder: Path) -> None:
    import subprocess

    inner = folder.with_name(folder.name + "-inner")
    unpacked("pip", "first==2.0.2", inner)
    git = ["git", "-c", "user.name=u", "-c", "user.email=u@x", "-c", "protocol.file.allow=always"]
    for argv in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "inner"]):
        subprocess.run([*git, *argv], cwd=inner, check=True)
    unpacked("pip", "inflection==0.5.1", folder)
    subprocess.run([*git, "init", "-q", "-b", "main"], cwd=folder, check=True)
    subprocess.run([*git, "submodule", "-q", "add", str(inner), "vendor/first"], cwd=folder, check=True)
    (folder / "test_vendored.py").write_text(
        "import sys\n\nsys.path.insert(0, 'vendor/first')\n\n\ndef test_vendored():\n    from first import first\n\n"
        "    assert first([0, 2]) == 2\n"
    )
    environment(folder, "pytest")


def _c_extension(folder: Path) -> None:
    """Built in place, as its developers have it: what is built is ignored."""
    import subprocess

    pip("markupsafe==3.0.2", "pytest", "setuptools")(folder)
    argv = [".venv/bin/python", "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(argv, cwd=folder, capture_output=True, check=True, timeout=600)


def _workspaces(folder: Path) -> None:
    """npm workspaces: one package uses the other by its name."""
    unpacked("npm", "bytes@3.1.2", _below(folder, "packages/bytes"))
    manifest = json.loads((folder / "packages/bytes/package.json").read_text())
    manifest |= {"scripts": {"test": "node --test"}, "devDependencies": {}}
    files = {
        "package.json": {
            "name": "mono",
            "private": True,
            "workspaces": ["packages/*"],
            "scripts": {"test": "npm test -ws"},
        },
        "packages/bytes/package.json": manifest,
        "packages/app/package.json": {
            "name": "@mono/app",
            "version": "1.0.0",
            "main": "index.js",
            "scripts": {"test": "node --test"},
            "dependencies": {"bytes": "*"},
        },
        "packages/app/index.js": "const bytes = require('bytes');\nexports.half = (text) => bytes(text) / 2;\n",
        "packages/app/test/app.test.js": NODE_TEST.format(
            name="half", line="assert.strictEqual(require('..').half('1KB'), 512)"
        ),
        "packages/bytes/test/bytes.test.js": NODE_TEST.format(
            name="parses", line="assert.strictEqual(require('..')('1KB'), 1024)"
        ),
    }
    for name, what in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(what if isinstance(what, str) else json.dumps(what, indent=2) + "\n")
    node_modules(folder)


def _below(folder: Path, name: str) -> Path:
    (folder / name).parent.mkdir(parents=True)
    return folder / name


NODE_TEST = "const test = require('node:test');\nconst assert = require('node:assert');\n\ntest('{name}', () => {{\n  {line};\n}});\n"
INVARIANT_TEST = (
    "import {{ expect, test }} from '{from_}';\nimport invariant from '../src/tiny-invariant';\n\ntest('holds', () => {{\n  expect(() => invariant(true, 'x')).not.toThrow();\n}});\n"
    "test('throws', () => {{\n  expect(() => invariant(false, 'x')).toThrow();\n}});\ntest('sums', () => {{\n  expect(1 + 1).toBe(2);\n}});\n"
)
INFLECTION = (
    "inflection/__init__.py",
    "            return re.sub(rule, replacement, word)\n    return word\n",
    "            return word\n    return word\n",
)
LEFT_PAD = ("index.js", "if (len <= 0) return str;", "if (len <= 1) return str;")


def python(name: str, what: str, make: Callable[[Path], None], broken: tuple[str, str, str], module: str, guard: str, test: str,
           text: str = PYTEST, own: tuple[str, ...] = PY, **more: object) -> Foreign:  # fmt: skip
    return Foreign(name=name, what=what, make=make, broken=broken, added=(broken[0], PY_ADDED), guard=guard, own=own,
                   test=(test, text.format(module=module)), **more)  # type: ignore[arg-type]  # fmt: skip


PROJECTS = [
    python("humanize", "hatch-vcs, src layout, ignored _version.py and *.mo", pip("humanize==4.12.3", "pytest", "freezegun"),
           ("src/humanize/filesize.py", "base = 1024 if (gnu or binary) else 1000", "base = 1024"), "humanize.filesize",
           "tests/test_filesize.py", "tests/test_devteam_added.py", own=(*PY, "tests"), ignore=".venv/\n__pycache__/\n*.egg-info/\nsrc/humanize/_version.py\n*.mo\n",
           says=("_version.py",)),
    python("pluggy", "setuptools_scm, src layout, tests in testing/", pip("pluggy==1.6.0"),
           ("src/pluggy/_tracing.py", 'lines = ["{}{} [{}]\\n".format(indent, content, ":".join(tags))]', 'lines = ["{}{}\\n".format(indent, content)]'),
           "pluggy._tracing", "testing/test_tracer.py", "testing/test_devteam_added.py", own=(*PY, "testing")),
    python("cachetools", "tox, src layout", pip("cachetools==5.5.2"),
           ("src/cachetools/keys.py", "key += tuple(type(v) for v in args)", "key += ()"),
           "cachetools.keys", "tests/test_keys.py", "tests/test_devteam_added.py", own=(*PY, "tests")),
    python("xmltodict", "unittest", pip("xmltodict==0.14.2", "setuptools"),
           ("xmltodict.py", "            data = (None if not self.data\n", "            data = (None if self.data\n"),
           "xmltodict", "tests/test_xmltodict.py", "tests/test_devteam_added.py", text=UNITTEST, own=(".venv/bin/python", "-m", "unittest", "discover", "-s", "tests")),
    python("first", "doctest-heavy: --doctest-modules in tox", pip("first==2.0.2"),
           ("first.py", "            if el:\n", "            if not el:\n"), "first", "test_first.py", "test_devteam_added.py", text=UNITTEST,
           own=(*PY, "--doctest-modules", "--ignore=setup.py")),
    python("itsdangerous", "tox, tools that are configured and missing", pip("itsdangerous==2.2.0", "pytest", "freezegun"),
           ("src/itsdangerous/encoding.py", 'return base64.urlsafe_b64encode(string).rstrip(b"=")', "return base64.urlsafe_b64encode(string)"),
           "itsdangerous.encoding", "tests/test_itsdangerous/test_encoding.py", "tests/test_devteam_added.py", own=(*PY, "tests"),
           says=("ruff: configured, but not installed", "mypy: configured, but not installed")),
    python("inflection-unignored-venv", "a .venv that nobody ignored", pip("inflection==0.5.1"), INFLECTION, "inflection",
           "test_inflection.py", "test_devteam_added.py", ignore="__pycache__/\n", says=("no rule ignores it",)),
    python("colorama", "tests inside the package, *_test.py, no settings for them", pip("colorama==0.4.6"),
           ("colorama/ansi.py", "return CSI + str(code) + 'm'", "return CSI + str(code) + 'M'"), "colorama.ansi",
           "colorama/tests/ansi_test.py", "colorama/tests/added_test.py", text=UNITTEST, own=(".venv/bin/python", "-m", "unittest", "discover", "-p", "*_test.py")),
    python("blinker", "a plug-in is needed; tests watch what is let go", pip("blinker==1.9.0", "pytest", "pytest-asyncio<0.24"),
           ("src/blinker/base.py", "        if not self.receivers:\n            return False", "        if self.receivers:\n            return False"), "blinker.base",
           "tests/test_signals.py", "tests/test_devteam_added.py", own=(*PY, "tests")),
    python("jaraco.text", "a namespace package, doctests by settings, a dependency of the tests missing",
           pip("jaraco.text==4.0.0", "pytest"),
           ("jaraco/text/__init__.py", "return lambda s: s.replace(old, new)", "return lambda s: s"), "jaraco.text", "jaraco/text/__init__.py", "tests/test_devteam_added.py",
           own=(*PY, "--ignore=jaraco/text/show-newlines.py"), says=("show-newlines.py: cannot be collected: inflect is not installed",)),
    python("markupsafe", "a C extension, built in place and ignored", _c_extension,
           ("src/markupsafe/__init__.py", "return unescape(str(self))", "return str(self)"), "markupsafe",
           "tests/test_markupsafe.py", "tests/test_devteam_added.py", own=(*PY, "tests"), ignore=".venv/\n__pycache__/\n*.egg-info/\n*.so\nbuild/\n", says=("_speedups",)),
    python("webcolors", "pdm, nox, unittest, src layout", pip("webcolors==24.11.1", "setuptools"),
           ("src/webcolors/_normalization.py", 'return f"#{hex_digits.lower()}"', 'return f"#{hex_digits.upper()}"'), "webcolors._normalization",
           "tests/test_normalization.py", "tests/test_devteam_added.py", text=UNITTEST, own=(".venv/bin/python", "-m", "unittest", "discover")),
    python("marshmallow", "names of tests that hold the time of day: others in every run", pip("marshmallow==3.26.1", "pytest", "simplejson"),
           ("src/marshmallow/utils.py", "return is_iterable_but_not_string(obj) and not isinstance(obj, Mapping)", "return is_iterable_but_not_string(obj)"), "marshmallow.utils",
           "tests/test_utils.py", "tests/test_devteam_added.py", own=(*PY, "tests"), says=("another name in every run",)),
    python("submodule", "a submodule that a test reads", _submodule, INFLECTION, "inflection",
           "test_inflection.py", "test_devteam_added.py", says=("submodule",), own=(*PY, "--ignore=vendor")),
    Foreign(name="minimist", what="tape", make=npm("minimist@1.2.8", "tape@5.9.0"), broken=("index.js", "(/^0x[0-9a-f]+$/i).test(x)", "(/^0y[0-9a-f]+$/i).test(x)"),
            added=("index.js", JS_ADDED.replace("  return", "\treturn")), test=("test/devteam_added.js", "'use strict';\n\n" + TAPE.format(module="../").replace("\n  t.", "\n\tt.")), guard="test/num.js", own=("npx", "tape", "test/*.js"), needs=("npm",)),
    Foreign(name="left-pad", what="node test.js with tape", make=npm("left-pad@1.3.0", "tape@4.17.0"), broken=LEFT_PAD, added=("index.js", JS_ADDED),
            test=("test.js", ""), guard="test.js", own=("node", "test.js"), needs=("npm",)),
    Foreign(
        name="ms", what="mocha", needs=("npm",),
        make=npm("ms@2.1.3", "mocha@10.8.2", package={"scripts": {"test": "mocha tests.js test/*.js"}}, files={
            "tests.js": "var ms = require('.');\nvar assert = require('assert');\ndescribe('ms', function () {\n  it('parses', function () {\n    assert.strictEqual(ms('1m'), 60000);\n  });\n  it('prints', function () {\n    assert.strictEqual(ms(60000), '1m');\n  });\n});\n",
            "test/none.js": "describe('none', function () {\n  it('is', function () {});\n});\n"}),
        broken=("index.js", "var m = s * 60;", "var m = s * 61;"), added=("index.js", JS_ADDED), guard="tests.js", own=("npx", "mocha", "tests.js", "test"),
        test=("test/added.js", "var assert = require('assert');\ndescribe('added', function () {\n  it('adds', function () {\n    assert.strictEqual(require('..').devteamAdded(2), 3);\n  });\n});\n"),
    ),
    Foreign(
        name="dequal", what="node --test", needs=("npm",),
        make=npm("dequal@2.0.3", package={"scripts": {"test": "node --test"}, "type": "commonjs"}, files={
            "test/lite.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst { dequal } = require('../lite/index.js');\n\ntest('equal', () => {\n  assert.strictEqual(dequal({ a: [1, 2] }, { a: [1, 2] }), true);\n});\ntest('different', () => {\n  assert.strictEqual(dequal({ a: 1 }, { a: 2 }), false);\n});\n"}),
        broken=("lite/index.js", "if (foo === bar) return true;", "if (foo == bar) return true; return true;"),
        added=("lite/index.js", "\nexports.devteamAdded = (number) => number + 1;\n"), guard="test/lite.test.js", own=("node", "--test"),
        test=("test/added.test.js", "const test = require('node:test');\nconst assert = require('node:assert');\nconst { devteamAdded } = require('../lite/index.js');\n\ntest('added', () => {\n  assert.strictEqual(devteamAdded(2), 3);\n});\n"),
    ),
    Foreign(
        name="tiny-invariant", what="vitest with TypeScript", needs=("npm",),
        make=npm("tiny-invariant@1.3.3", "vitest@2.1.9", package={"scripts": {"test": "vitest run"}, "devDependencies": {}, "type": "module"}, files={
            "test/invariant.test.ts": "import { expect, test } from 'vitest';\nimport invariant from '../src/tiny-invariant';\n\ntest('holds', () => {\n  expect(() => invariant(true, 'x')).not.toThrow();\n});\ntest('throws', () => {\n  expect(() => invariant(false, 'x')).toThrow();\n});\n"}),
        broken=("src/tiny-invariant.ts", "if (condition) {", "if (!condition) {"), added=("src/tiny-invariant.ts", "\nexport function devteamAdded(value: number): number {\n  return value + 1;\n}\n"),
        guard="test/invariant.test.ts", own=("npx", "vitest", "run"),
        test=("test/added.test.ts", "import { expect, test } from 'vitest';\nimport { devteamAdded } from '../src/tiny-invariant';\n\ntest('added', () => {\n  expect(devteamAdded(2)).toBe(3);\n});\n"),
    ),
    Foreign(
        name="vitest-settings", what="vitest 3 with settings in TypeScript, which vite bundles into node_modules", needs=("npm",),
        make=npm("tiny-invariant@1.3.3", "vitest@3.2.4", package={"scripts": {"test": "vitest run"}, "devDependencies": {}, "type": "module"}, files={
            "test/invariant.test.ts": INVARIANT_TEST.format(from_="vitest"),
            "vite.config.ts": "import { defineConfig } from 'vitest/config';\n\nexport default defineConfig({ test: { include: ['test/**/*.test.ts'] } });\n"}),
        broken=("src/tiny-invariant.ts", "if (condition) {", "if (!condition) {"), added=("src/tiny-invariant.ts", "\nexport function devteamAdded(value: number): number {\n  return value + 1;\n}\n"),
        guard="test/invariant.test.ts", own=("npx", "vitest", "run"),
        test=("test/added.test.ts", "import { expect, test } from 'vitest';\nimport { devteamAdded } from '../src/tiny-invariant';\n\ntest('added', () => {\n  expect(devteamAdded(2)).toBe(3);\n});\n"),
    ),
    Foreign(
        name="workspaces", what="npm workspaces, a real package and one that uses it", make=_workspaces, needs=("npm",),
        broken=("packages/bytes/index.js", "kb: 1 << 10,", "kb: 1 << 11,"), added=("packages/bytes/index.js", JS_ADDED), guard="packages/bytes/test/bytes.test.js",
        own=("npm", "test", "--workspaces"), says=("node --test (packages/app)",) ,
        test=("packages/bytes/test/added.test.js", NODE_TEST.format(name="added", line="assert.strictEqual(require('..').devteamAdded(2), 3)")),
    ),
    Foreign(
        name="pkg-errors", what="a Go module", make=_go, needs=("go", "dpkg"), broken=("errors.go", "msg:   message,", 'msg:   "",'),
        added=("errors.go", "\n// DevteamAdded adds one.\nfunc DevteamAdded(number int) int { return number + 1 }\n"), guard="errors_test.go", own=("go", "test", "-run", "TestNew|TestWrapNil|TestWrap$|TestCause|TestWithMessage|TestDevteam", "./..."),
        test=("added_test.go", "package errors\n\nimport \"testing\"\n\nfunc TestDevteamAdded(t *testing.T) {\n\tif DevteamAdded(2) != 3 {\n\t\tt.Fatal(\"not added\")\n\t}\n}\n"),
    ),
    Foreign(
        name="fnv", what="Rust", make=_rust, needs=("cargo", "dpkg"), broken=("lib.rs", "hash = hash ^ (*byte as u64);", "hash = hash | (*byte as u64);"),
        added=("lib.rs", "\n/// Adds one.\npub fn devteam_added(number: u64) -> u64 {\n    number + 1\n}\n"), guard="lib.rs", own=("cargo", "test", "--offline", "-q"),
        test=("tests/added.rs", "#[test]\nfn added() {\n    assert_eq!(fnv::devteam_added(2), 3);\n}\n"), ignore="target/\nCargo.lock\n",
    ),
    Foreign(
        name="monorepo", what="two real packages: services/api (pytest) and web (tape)", make=_monorepo, needs=("npm",),
        broken=(f"services/api/{INFLECTION[0]}", INFLECTION[1], INFLECTION[2]), added=("services/api/inflection/__init__.py", PY_ADDED),
        test=("services/api/test_devteam_added.py", PYTEST.format(module="inflection")), guard="services/api/test_inflection.py",
        own=("sh", "-c", "(cd services/api && .venv/bin/python -m pytest -q -x -p no:cacheprovider) && (cd web && node test.js)"),
        says=("pytest (services/api)", "tape (web)"),
    ),
]  # fmt: skip


def missing(project: Foreign) -> str:
    return next((tool for tool in project.needs if shutil.which(tool) is None), "")
