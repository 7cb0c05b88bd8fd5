"""Code that looks at its callers or its process, where the project had none of that: it asks, and only then."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.looking_around import looks_around

NONE = b"def a():\n    return 1\n"


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nx = sys._getframe(1)",
        "from inspect import stack as s\nx = s()",
        "def f(e):\n    return e.__traceback__.tb_frame.f_back",
        "import __main__\n",
        "import sys\nx = sys.modules['__main__']",
        "def f(g):\n    return getattr(g, '__closure__')",
        "x = open('/proc/self/status').read()",
        "import gc\nfor o in gc.get_objects(): pass",
    ],
)
def test_what_is_new_to_the_project_is_asked_about(source: str) -> None:
    assert looks_around(NONE, source.encode(), [NONE])
    assert not looks_around(source.encode(), source.encode() + b"\n# more\n", [NONE]), "the file had it"
    assert not looks_around(NONE, source.encode(), [NONE, source.encode()]), "another file had it"


@pytest.mark.parametrize(
    "source",
    [
        "if __name__ == '__main__':\n    print(1)",
        "import sys\nx = sys.modules.get('json'), sys.argv, sys.stdout.isatty()",
        "import inspect\nx = inspect.signature(print)",
        "import os\nx = os.getpid(), os.environ.get('HOME')",
    ],
)
def test_everyday_code_is_not(source: str) -> None:
    assert not looks_around(NONE, source.encode(), [NONE])
