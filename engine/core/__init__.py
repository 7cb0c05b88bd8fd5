"""The pure core: facts in, decisions out. No I/O, no clock, no randomness, no import from the rest of the project."""
