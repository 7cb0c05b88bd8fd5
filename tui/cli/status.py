"""`devteam status`: asked most often, by prompts, scripts and phones; it has a way of its own past the parser."""

from __future__ import annotations

from tui.cli import printing as say


def show(sprint: str, json: bool) -> None:
    """Where the sprint stands, as one JSON object or as lines for people."""

    desk = say.desk()
    state = desk.shown(sprint)
    holder = desk.engine()
    viewers = desk.viewers() if holder else None
    if json:
        from engine.service.status_facts import status_facts

        say.json_line(status_facts(state, holder, viewers))
        return
    from tui.cli.event_text import status_lines

    told = desk.told(state.sprint) if sprint and state.sprint and not holder else ""
    for line in status_lines(state, holder.words() if holder else "", viewers, told):
        say.out(line)
