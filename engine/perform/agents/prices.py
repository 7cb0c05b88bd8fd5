"""What tokens cost where the program does not say: genai-prices, imported only when something is to be priced."""

from __future__ import annotations

from engine.core.model import Tokens
from engine.perform.agents.wire import money

_ALIASES = {"haiku": "claude-haiku-4-5", "sonnet": "claude-sonnet-4-5", "opus": "claude-opus-4-5"}
"""Names that a ladder uses for whatever is newest: priced by the last generation whose price is known here."""


def price(model: str, tokens: Tokens) -> float | None:
    """Dollars for one call, or None when the model is not in the price list. No tokens cost nothing."""
    if not tokens.total():
        return 0.0
    if not model:
        return None
    from genai_prices import Usage, calc_price  # half a second, needed by few calls

    usage = Usage(
        input_tokens=tokens.input + tokens.cache_read + tokens.cache_write,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
    )
    name = model.rsplit("/", 1)[-1]
    try:
        return money(float(calc_price(usage, _ALIASES.get(name, name)).total_price))
    except (LookupError, ValueError, ArithmeticError):
        return None
