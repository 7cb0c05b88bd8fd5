"""`devteam mcp`: the sprint for any agent that speaks MCP, where the SDK is installed."""

from __future__ import annotations

from engine.link.user_errors import UserError
from engine.service.local import Desk

EXTRA = "pip install 'devteam[mcp]'   (pipx: pipx inject devteam mcp)"


def serve(desk: Desk) -> None:
    """Speak MCP on stdin and stdout until the client leaves. Raises UserError where the SDK is not installed."""
    try:
        from engine.service.mcp_tools import server
    except ImportError as error:
        raise UserError("devteam mcp needs the MCP SDK, which is not installed (extra: mcp)", EXTRA) from error
    server(desk).run("stdio")
