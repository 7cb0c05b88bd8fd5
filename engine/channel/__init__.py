"""The one live channel between an engine and everybody else: a unix socket, private to its user.

`messages` is what passes, `address` where, `server` the engine's end, `client` the other one.
"""
