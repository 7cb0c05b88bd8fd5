"""The panes of the dashboard, one a file: a pure function from a snapshot to lines, and the widget that shows it."""
