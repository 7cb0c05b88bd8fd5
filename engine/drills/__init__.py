"""Drills: what may go wrong in a night, played against a scratch copy of the user's own repository and configuration.

The engine, its journal, git and the sandbox are the real ones; agents are scripted, so that nothing is spent; waits for
a moment are skipped. One file a drill, one contract (`drill.py`), one registry (`registry.py`).
"""
