"""The demo: a small Python package, a plan of six tasks and a scripted agent that fails in instructive ways."""
