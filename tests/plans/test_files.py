"""Plans in files: bytes kept, permissions kept, trouble in words."""

from __future__ import annotations

import pytest

from engine.plans import PlanRefused, format_of, mark_plan, mark_tasks, read_plan
from engine.plans.registry import read_text

BYTES = "\ufeff# Größe\r\nStatus: DRAFT \r\n\r\n- [ ] 1.1 a  \r\n\ttext\u2028more\r\n- [ ] 1.2 b".encode()


def test_marking_a_file_changes_one_byte_and_keeps_its_mode(tmp_path):
    path = tmp_path / "plan.md"
    path.write_bytes(BYTES)
    path.chmod(0o640)
    assert mark_tasks(path, {"1.2": "done"}) is True
    assert path.read_bytes() == BYTES.replace(b"- [ ] 1.2", b"- [x] 1.2")
    assert mark_tasks(path, {"1.2": "done"}) is False
    assert mark_plan(path, "IN_PROGRESS") is True
    assert path.read_bytes() == BYTES.replace(b"- [ ] 1.2", b"- [x] 1.2").replace(b"DRAFT", b"IN_PROGRESS")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.md"]


def test_a_linked_plan_stays_a_link(tmp_path):
    real = tmp_path / "real.md"
    real.write_bytes(BYTES)
    link = tmp_path / "plan.md"
    link.symlink_to(real)
    mark_tasks(link, {"1.1": "done"})
    assert link.is_symlink() and b"[x] 1.1" in real.read_bytes()


def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    path = tmp_path / "plan.md"
    path.write_bytes(b"# X\n\n- [ ] 1.1 Gr\xf6\xdfe\n")
    with pytest.raises(PlanRefused) as refused:
        read_plan(path)
    assert refused.value.errors[0].line == 3 and "UTF-8" in str(refused.value)


@pytest.mark.parametrize("name", ["missing.md", ""], ids=["missing", "a folder"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name):
    with pytest.raises(PlanRefused, match="devteam plan --from"):
        read_text(tmp_path / name)


def test_a_file_of_no_known_format_is_refused(tmp_path):
    with pytest.raises(PlanRefused, match="json, native"):
        format_of(tmp_path / "plan.pdf", "")
