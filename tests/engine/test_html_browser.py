"""The HTML report in a real headless Chromium, where there is one: light, dark, narrow, printed, nothing refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from engine.core.model import Criterion, Decision, Issue, Proof, ProofVerdict, Review
from engine.core.sprint_review_state import SprintReview, TaskIssue
from engine.core.state import Status
from engine.core.task_state import Record
from engine.html_report import page
from tests.core.parts import a_state, a_task
from tests.patience import patience

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EXAMPLE = Path(__file__).parents[2] / "docs" / "example-report.html"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian: apt-get install chromium)")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--enable-logging=stderr",
)  # fmt: skip
MEASURE = """<script>
const c = e => getComputedStyle(e), one = s => document.querySelector(s);
document.title = JSON.stringify({
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  background: c(document.body).backgroundColor, text: c(document.body).color,
  first: one('section.first').getBoundingClientRect().top, charts: document.querySelectorAll('svg').length,
  bars: [...document.querySelectorAll('svg rect')].filter(r => r.getBoundingClientRect().width < 1).length,
  outside: document.querySelectorAll('[src],link,iframe,script[src],img').length,
});
</script>"""


def browse(place: Path, text: str, *flags: str) -> tuple[str, str]:
    """(what it printed, what it complained of)"""
    file = place / "page.html"
    file.write_text(text, encoding="utf-8")
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={place / 'profile'}", *flags, file.as_uri()]
    env = {"HOME": str(place), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(command, capture_output=True, timeout=patience(60), env=env, check=True)
    return done.stdout.decode(), "\n".join(line for line in done.stderr.decode().splitlines() if "CONSOLE" in line)


def measured(place: Path, text: str, *, dark: bool = False, width: int = 1100) -> dict[str, Any]:
    """The same page with a script that measures it: our own forbids scripts."""
    open_to_scripts = re.sub(r"<meta http-equiv='Content-Security-Policy'[^>]*>", "", text)
    flags = (f"--window-size={width},1400", f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--dump-dom")
    dom, _ = browse(place, open_to_scripts.replace("</body>", f"{MEASURE}</body>"), *flags)
    found = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert found is not None
    return dict(json.loads(found.group(1).replace("&amp;", "&")))


def brightness(colour: str) -> float:
    return sum(float(part) for part in re.findall(r"[\d.]+", colour)[:3]) / 3


def a_page() -> str:
    long = "a_very_long_name_without_a_break_" * 12
    tried = Record(iteration=1, rung=0, decision=Decision.ITERATE)
    met = Criterion(text="it works", met=True, reference="tests/test_a.py::test_b")
    good = a_task(
        status=Status.COMPLETE,
        commit="a" * 40,
        review=Review(approved=True, criteria=(met,)),
        history=(tried, Record(iteration=2, rung=2, decision=Decision.COMPLETE)),
        spent_usd=1.5,
        started_at=1.0,
        ended_at=99.0,
        proof=ProofVerdict.PROVEN,
        proofs=(Proof(kind="new", name=long, red="assert 1 == 2"),),
    )
    bad = a_task("1.2", status=Status.SKIPPED, reason="skipped by you", history=(tried,), spent_usd=0.2)
    issue = TaskIssue(task="1.1", issue=Issue(text="x < y & z", fix=long))
    state = replace(a_state(good, bad), sprint_review=SprintReview(head="b" * 40, issues=(issue,), summary="no"))
    return page(state, {"1.1": f"@@ -1 +1 @@\n-{long}\n+<script>alert(1)</script>\n"})


@pytest.mark.parametrize("which", ["made", "example"])
def test_a_real_browser_shows_it(tmp_path: Path, which: str) -> None:
    if which == "example" and not EXAMPLE.is_file():
        pytest.skip("no example")
    text = a_page() if which == "made" else EXAMPLE.read_text(encoding="utf-8")
    for dark in (False, True):
        seen = measured(tmp_path, text, dark=dark, width=420 if dark else 1100)
        assert seen["wide"] == 0, "nothing makes the page scroll sideways, on a phone neither"
        assert (brightness(seen["background"]) < 60) is dark and (brightness(seen["text"]) > 180) is dark
        assert seen["first"] < 400, "what is open is seen without scrolling"
        assert seen["charts"] >= 3 and seen["bars"] == 0 and seen["outside"] == 0
    picture, printed = tmp_path / "page.png", tmp_path / "page.pdf"
    _, complaints = browse(tmp_path, text, "--window-size=1100,1400", f"--screenshot={picture}")
    assert not complaints, "its own security policy refuses nothing of its own"
    assert picture.read_bytes().startswith(b"\x89PNG")
    browse(tmp_path, text, "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    assert printed.read_bytes().startswith(b"%PDF") and printed.stat().st_size > 5_000
