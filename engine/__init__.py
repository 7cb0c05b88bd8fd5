"""The engine: a pure core that decides, and the shell around it that performs."""

VERSION = "0.1.0"
