"""The dashboard in a browser, through textual-serve: this machine only, and only by an address that nobody guesses.

Everything lies below a path that is a secret of this run: there is no cookie that another local server could be sent.
The page may load nothing from elsewhere, whatever its template says. Imported only where the extra is installed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
from collections.abc import Awaitable, Callable

from aiohttp import web
from textual_serve.server import Server

HOST = "127.0.0.1"
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Dashboards(Server):
    """Each browser gets a dashboard of its own; closing the page leaves the engine alone, as for a terminal."""

    def __init__(self, command: str, port: int, tell: Callable[[str], None]) -> None:
        super().__init__(command, host=HOST, port=port, title="devteam")
        self.token = secrets.token_urlsafe(32)
        self._tell = tell

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def initialize_logging(self) -> None:
        logging.basicConfig(level="CRITICAL")

    async def _make_app(self) -> web.Application:
        inner = await super()._make_app()
        outer = web.Application(middlewares=[self._only_from_here])
        outer.add_subapp(f"/{self.token}/", inner)
        outer.on_response_prepare.append(self._headers)
        return outer

    def serve(self, debug: bool = False) -> None:
        """Until ctrl-c. The address is told when there is somebody at it: not before, as by the class above."""
        self.debug = debug
        self.initialize_logging()
        loop = asyncio.new_event_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, self.request_exit)
        app = self._make_app()
        web.run_app(app, host=self.host, port=self.port, handle_signals=False, loop=loop, print=self._listens)

    async def on_startup(self, app: web.Application) -> None:
        """Nothing is said yet."""

    def _listens(self, _words: object) -> None:
        self._tell(f"the dashboard is at {self.address}")
        self._tell("only from this machine, and only with that address; ctrl-c ends it, the engine goes on")

    @web.middleware
    async def _only_from_here(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A page of another origin, or a name that was made to lead here, gets nothing."""
        here = f"{HOST}:{self.port}"
        if request.host != here or request.headers.get("Origin", f"http://{here}") != f"http://{here}":
            raise web.HTTPForbidden(text="not from here")
        return await handler(request)

    async def _headers(self, _request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Content-Security-Policy"] = POLICY.format(host=f"{HOST}:{self.port}")
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cache-Control"] = "no-store"
