"""What every agent, plan format and check preset must hold, ours and those of third parties: run it in your own tests.

Each suite takes one thing and returns what is wrong with it, in words; an empty list is a pass. See docs/plugins.md.
"""

from engine.conformance.agents import agent_problems, record_problems
from engine.conformance.plans import plan_format_problems
from engine.conformance.presets import preset_problems

__all__ = ["agent_problems", "plan_format_problems", "preset_problems", "record_problems"]
