"""Every drill; the command, its help and the tests are derived from this list."""

from __future__ import annotations

from engine.drills import (
    cheating_agent,
    clock_jump,
    corrupt_journal,
    crashing_agent,
    flooding_agent,
    full_disk,
    garbage_output,
    hanging_agent,
    lost_viewer,
    lying_agent,
    orphaned_process,
    usage_limit,
)

DRILLS = {
    module.DRILL.name: module.DRILL
    for module in (
        usage_limit,
        hanging_agent,
        garbage_output,
        crashing_agent,
        orphaned_process,
        flooding_agent,
        full_disk,
        corrupt_journal,
        clock_jump,
        lying_agent,
        cheating_agent,
        lost_viewer,
    )
}
