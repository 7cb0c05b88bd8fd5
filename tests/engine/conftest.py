"""The finished sprint of the command line's tests is the reports' example too."""

from __future__ import annotations

from tests.cli.shared import finished as finished
