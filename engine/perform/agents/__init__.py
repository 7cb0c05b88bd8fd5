"""One adapter a file, one contract (process/spawning.py), one conformance suite (tests/agents) over all of them.

`registry` finds an adapter by name; `headless` drives every program that prints a stream and ends; the `*_stream`
modules are pure parsers: lines in, normalised output and one result out.
"""
