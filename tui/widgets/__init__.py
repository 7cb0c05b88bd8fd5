"""Reusable widgets: they know lines and keys, nothing of a sprint."""
