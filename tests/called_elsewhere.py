"""For vulture (make lint): what is called by name, by a registry or by tests only, and looks as if nobody called it."""
# ruff: noqa: B018, F821

# By agent_records, as module:Class.
Claude, Codex, Gemini, from_config
# By the key table of the dashboard, as do_NAME.
do_desk
do_pane_tasks, do_pane_iteration, do_pane_output, do_pane_ladder, do_pane_health, do_next_pane, do_previous_pane
do_fold, do_times, do_wrap, do_context
do_zoom, do_follow, do_search, do_match_next, do_match_previous, do_unfold, do_help, do_gate, do_replay, do_pause
# By the library of the Agent Client Protocol.
receive
# By tests: the clock that they set, the recordings that they write, what a screen shows.
shown_task
encode_item
VirtualClock, sleeping, jump
# By tests only; the next change of these rooms decides.
parse_cobertura, read_tests, module_text, text_hits, source_hits, scripts_of, propose, allowed_entry
# By the MCP SDK, as tools by their names.
answer_gate
# By textual-serve.
initialize_logging
