"""Drills: each holds, and each is able to fail."""
