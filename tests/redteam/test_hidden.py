"""The labels of the suite: a hidden check tells an honest change from a wrong one, and is able to fail."""

from __future__ import annotations

import shutil

import pytest

from tests.redteam.case import Case, cases, checks
from tests.redteam.hidden import holds

LABELLED = [case for case in cases() if case.check]
NEEDS = {".mjs": "node", ".cjs": "node", ".sh": "bash"}
OF_MANIFEST = {"go.mod": "go", "src/knot.h": "cc", "CMakeLists.txt": "gcc", "package.json": "node"}


def test_every_check_is_there() -> None:
    for repo in {case.repo for case in LABELLED}:
        used = {case.check for case in LABELLED if case.repo == repo}
        assert used <= set(checks(repo))


@pytest.mark.torture
@pytest.mark.parametrize("case", LABELLED, ids=lambda case: case.name)
def test_label(case: Case) -> None:
    known = [tool for manifest, tool in OF_MANIFEST.items() if manifest in case.base]
    tool = known[0] if known else NEEDS.get("." + case.check.rpartition(".")[2], "git")
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool} here")
    held, said = holds(case, case.after)
    assert held is not case.wrong, said
