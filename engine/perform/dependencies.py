"""The dependencies of the clones: workspace.setup and .devteam/init.sh, run by the engine in a clone of their own.

Every ignored folder they make there is shown read-only at its place in the lanes and clean rooms, like the user's own:
so they run once for all of them, and neither an agent nor a check can change what the next check believes.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from engine import files
from engine.core import events as ev
from engine.core.clean import clean, clean_line
from engine.core.model import Struct
from engine.perform.dev_server import DevServer
from engine.perform.process.spawning import Confinement, Mount, PerformError, ProcessSpec, Spawner
from engine.perform.workspace.workspace import Workspace

LANE = 100
"""Above every lane an agent may work in."""
MANIFESTS = (
    "pyproject.toml", "uv.lock", "poetry.lock", "requirements.txt", "requirements-dev.txt", "setup.py", "setup.cfg",
    "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "go.mod", "go.sum", "Cargo.toml", "Cargo.lock",
    "Gemfile", "Gemfile.lock", "composer.lock", "Makefile",
)  # fmt: skip
"""A change of one of them makes the dependencies anew at the next session."""
SECONDS = 1800.0
TAIL = 2000


class Step(Struct, frozen=True, kw_only=True):
    """One thing to run: what it is called in the configuration, and the shell line or script."""

    name: str
    script: str
    each_session: bool = False
    """Run again at every session's start; else only when it or a manifest changed."""


class Dependencies:
    """What the steps made, for the length of a session. `ready` runs them on first use."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        steps: tuple[Step, ...],
        spawner: Spawner,
        env: Mapping[str, str],
        hide: tuple[Path, ...],
        redact: Callable[[str], str],
        server: DevServer | None = None,
    ) -> None:
        """`server`: started after the steps, or in the place of the last one, which leaves it running."""
        self._server = server
        self._workspace = workspace
        self._steps = steps
        self._spawner = spawner
        self._env = env
        self._hide = hide
        self._redact = redact
        self._lock = asyncio.Lock()
        self._done = not steps and server is None

    async def rehearsed(self) -> None:
        """Outside a sprint (devteam doctor): what fails here would fail at a run's start."""
        if not self._done:
            self._workspace.stand_on_head()
            await self.ready()

    async def ready(self) -> list[ev.AnyEvent]:
        """Run what has to be run; the words to record of it. Raises PerformError when a step fails: nothing is known
        to work without it."""
        if self._done:
            return []
        async with self._lock:
            if self._done:
                return []
            said = await self._run()
            self._done = True
            return [ev.Noted(text=text) for text in said]

    async def _run(self) -> list[str]:
        workspace = self._workspace
        marker = workspace.store.folder("setup") / "made"
        wanted = fingerprint(self._steps, workspace.checkout)
        fresh = not _is(marker, wanted) or not workspace.lane_path(LANE).is_dir()
        said = []
        if fresh:
            marker.unlink(missing_ok=True)
            await asyncio.to_thread(workspace.store.grave.discard, workspace.lane_path(LANE))
            await asyncio.to_thread(workspace.prepare, LANE)
        for step in self._steps:
            if self._server is not None and not self._server.spec.script and step.each_session:
                said.append(await self._server.start(step.script, step.name, self._confinement()))
            elif fresh or step.each_session:
                said.append(await self._step(step))
        files.write(marker, wanted)
        made = await asyncio.to_thread(made_mounts, workspace)
        workspace.mounts = (*workspace.mounts, *made)
        names = ", ".join(str(mount.dest.relative_to(workspace.checkout)) for mount in made)
        if self._server is not None and self._server.spec.script:
            said.append(await self._server.start(self._server.spec.script, "workspace.server", self._confinement()))
        return [f"{text}; made: {names or 'no ignored folder'}" for text in said]

    def context(self) -> str:
        """What agents are told of the server; they reach it, because their sandbox has the machine's network."""
        if self._server is None:
            return ""
        spec = self._server.spec
        what = clean_line(spec.script) or "what .devteam/init.sh starts"
        lines = ["", "## Development server", "", f"- `{what}` runs beside this sprint; leave it running."]
        lines += [f"- It is up when this succeeds: `{clean_line(spec.health)}`"] if spec.health else []
        lines.append(
            "- It serves the project as it was when the run began, not your changes: start your own for those."
        )
        return "\n".join(lines) + "\n"

    async def close(self) -> None:
        """End what runs beside the session."""
        if self._server is not None:
            await self._server.close()

    def _confinement(self) -> Confinement:
        return Confinement(
            checkout=self._workspace.checkout,
            clone=self._workspace.lane_path(LANE),
            network=True,
            home=self._workspace.store.folder("homes", "setup"),
            mounts=self._workspace.mounts,
            hide=self._hide,
        )

    async def _step(self, step: Step) -> str:
        confine = self._confinement()
        finished = await self._spawner.run(
            ProcessSpec(
                argv=("sh", "-c", step.script),
                cwd=confine.clone,
                env={**self._env, "CI": "1"},
                timeout=SECONDS,
                confine=confine,
            )
        )
        if finished.reason == "exited" and finished.exit_code == 0:
            return f"{step.name} ran in {finished.seconds:.1f} s"
        told = (finished.stderr + finished.stdout)[-TAIL:].decode("utf-8", "replace")
        last = clean(self._redact(told)).strip().splitlines()[-1:] or [finished.error or "it said nothing"]
        how = f"exit {finished.exit_code}" if finished.reason == "exited" else finished.reason
        raise PerformError(
            f"{step.name} failed ({how}): {last[0]}",
            kind="permanent",
            hint=f"try it in your checkout, mend it in .devteam/, then: devteam run   ({step.script[:80].strip()})",
        )


def fingerprint(steps: tuple[Step, ...], checkout: Path) -> str:
    """Names what the dependencies were made of."""
    digest = hashlib.sha256()
    for step in steps:
        if not step.each_session:
            digest.update(f"{step.name}\0{step.script}\0".encode())
    for name in MANIFESTS:
        try:
            digest.update(name.encode() + b"\0" + hashlib.sha256((checkout / name).read_bytes()).digest())
        except OSError:
            continue
    return digest.hexdigest()


def made_mounts(workspace: Workspace) -> tuple[Mount, ...]:
    """The ignored folders in the setup's clone; one the user has too is the user's."""
    clone, checkout = workspace.lane_path(LANE), workspace.checkout
    taken = {mount.dest for mount in workspace.mounts}
    return tuple(
        Mount(source=clone / name, dest=checkout / name)
        for name in (workspace.ignored_folders(LANE) if clone.is_dir() else ())
        if checkout / name not in taken
    )


def _is(marker: Path, text: str) -> bool:
    try:
        return marker.read_text(encoding="ascii") == text
    except (OSError, UnicodeDecodeError):
        return False
