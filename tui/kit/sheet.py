"""Sheet: a bordered, scrollable page of lines."""

from __future__ import annotations

from tui.kit.framed import Framed
from tui.kit.paint import plain


class Sheet(Framed):
    def text(self) -> str:
        return plain(self.lines)
