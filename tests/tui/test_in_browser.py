"""`devteam serve` in a real headless Chromium: the dashboard is there, and a key in the page answers a gate.

It asks no other machine for anything, and nobody without its address gets a byte.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cli.ground import CONFIG, Ground, make, trusted
from tests.patience import eventually, patience

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SERVED = all(find_spec(name) for name in ("aiohttp", "textual_serve"))
pytestmark = [
    pytest.mark.torture,
    pytest.mark.skipif(not SERVED, reason="the extra serve is not installed"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian: apt-get install chromium)"),
]
PORT = 8317
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1280,800",
    "--remote-debugging-port=0",
)  # fmt: skip


class Page:
    """One page, spoken to by the protocol of its developer tools."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._calls = 0
        self.asked: dict[str, str] = {}
        self.blocked: set[str] = set()

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._calls += 1
        await self._socket.send_json({"id": self._calls, "method": method, "params": params})
        while True:
            heard = json.loads((await self._socket.receive()).data)
            told = heard.get("params", {})
            if heard.get("method") == "Network.requestWillBeSent":
                self.asked[told["requestId"]] = told["request"]["url"]
            if heard.get("method") == "Network.loadingFailed" and told.get("blockedReason") == "csp":
                self.blocked.add(told["requestId"])
            if heard.get("id") == self._calls:
                return dict(heard.get("result", {}))

    async def value(self, script: str) -> Any:
        return (await self.call("Runtime.evaluate", expression=script))["result"].get("value")

    async def key(self, letter: str) -> None:
        for kind in ("keyDown", "keyUp"):
            more = {"text": letter} if kind == "keyDown" else {}
            code = ord(letter.upper())
            await self.call("Input.dispatchKeyEvent", type=kind, key=letter, windowsVirtualKeyCode=code, **more)


@asynccontextmanager
async def browsing(place: Path, url: str) -> AsyncIterator[Page]:
    env = {"HOME": str(place), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    profile = place / "profile"
    browser = subprocess.Popen(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", "about:blank"], env=env, stderr=subprocess.DEVNULL
    )
    try:
        told = profile / "DevToolsActivePort"
        await eventually(lambda: told.is_file() and told.read_text().strip(), 60)
        port = told.read_text().split()[0]
        import aiohttp

        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json") as found:
                (target,) = [one for one in await found.json() if one["type"] == "page"]
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = Page(socket)
                await page.call("Network.enable")
                await page.call("Page.enable")
                await page.call("Page.navigate", url=url)
                yield page
    finally:
        browser.kill()
        browser.wait()


def a_sprint_at_its_gate(place: Path) -> Ground:
    return trusted(make(place / "repo", place / "home", config=CONFIG.replace('"auto"', '"gated"')))


async def test_the_dashboard_in_a_page(tmp_path: Path) -> None:
    ground = a_sprint_at_its_gate(tmp_path)
    served = subprocess.Popen(
        ground.argv("serve", "--port", str(PORT)), cwd=ground.folder, env=ground.environment(), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert served.stdout
        url = re.search(r"http\S+", served.stdout.readline())[0]  # type: ignore[index]
        import aiohttp

        async with aiohttp.ClientSession() as session:
            for address, headers, status in (
                (f"http://127.0.0.1:{PORT}/", {}, 404),
                (f"http://127.0.0.1:{PORT}/ws", {}, 404),
                (url[:-2] + "x/", {}, 404),
                (url, {"Host": f"evil.example:{PORT}"}, 403),
                (f"{url}ws", {"Origin": "http://evil.example"}, 403),
                (url, {}, 200),
            ):
                async with session.get(address, headers=headers) as said:
                    assert said.status == status, address
        async with browsing(tmp_path, url) as page:
            deadline = asyncio.get_running_loop().time() + patience(60)
            while "-first-byte" not in str(await page.value("document.body.className")):
                assert asyncio.get_running_loop().time() < deadline, "the dashboard never came"
                await asyncio.sleep(0.2)
            await asyncio.to_thread(
                ground.until, lambda: [g for g in ground.status()["gates"] if g["gate"] == "G1"], 60
            )
            kept = Path(os.environ.get("PICTURES", tmp_path)) / "in-browser.png"
            deadline = asyncio.get_running_loop().time() + patience(60)
            while True:
                picture = await page.call("Page.captureScreenshot", format="png")
                kept.write_bytes(base64.b64decode(picture["data"]))
                if kept.stat().st_size > 30_000:  # a dashboard with its gate has many colours and letters
                    break
                assert asyncio.get_running_loop().time() < deadline, f"the gate was never drawn: {kept}"
                await asyncio.sleep(0.5)
            await asyncio.sleep(2)  # a gate ignores keys until somebody could have seen it
            assert await page.value("document.fonts.status") == "loaded"
            await page.value("document.querySelector('textarea').focus()")
            await page.key("y")
            await asyncio.to_thread(ground.until, lambda: "G1" not in [g["gate"] for g in ground.status()["gates"]], 60)
            there = f"//127.0.0.1:{PORT}/"
            strangers = {name for name, asked in page.asked.items() if there not in asked and "data:" not in asked}
            assert strangers <= page.blocked, "the template's web font is refused by the page's own policy"
    finally:
        served.terminate()
        served.communicate(timeout=patience(30))
        ground.run("stop", "--now")
