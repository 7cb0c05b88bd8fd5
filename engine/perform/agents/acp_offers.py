"""What a session of the Agent Client Protocol offers to choose from: modes, and models under two names."""

from __future__ import annotations

from typing import Any

from engine.perform.agents.wire import Object, at, items, objects, text


def modes_of(session: Object) -> list[str]:
    """Ids of the modes a session offers."""
    return [mode for option in objects(at(session, "modes.availableModes")) if (mode := text(option.get("id")))]


def models_of(session: Object) -> tuple[dict[str, str], str]:
    """The models a session offers and the one in use: ids, by themselves and by a name that means only one of them."""
    current = text(at(session, "models.currentModelId"))
    return _choices(objects(at(session, "models.availableModels")), "modelId"), current


def model_option(session: Object) -> tuple[str, dict[str, str], str]:
    """The configuration option that chooses the model, its values as in `models_of`, and the one in use."""
    for option in objects(session.get("configOptions")):
        if "model" in (option.get("category"), option.get("id")):
            values = _choices(_flat(option.get("options")), "value")
            return text(option.get("id")), values, text(option.get("currentValue"))
    return "", {}, ""


def _choices(options: list[Object], key: str) -> dict[str, str]:
    known = [(choice, text(option.get("name"))) for option in options if (choice := text(option.get(key)))]
    names = [name for _choice, name in known]
    named = {name: choice for choice, name in known if name and names.count(name) == 1}
    return {**named, **{choice: choice for choice, _name in known}}


def _flat(options: Any) -> list[Object]:
    """Options may come in named groups."""
    found: list[Object] = []
    for option in items(options):
        if isinstance(option, dict):
            found += objects(option.get("options")) or [option]
    return found
