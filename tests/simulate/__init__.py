"""The whole engine under one seed: scheduler, clock, disk, children, the user and a nemesis (make simulate)."""
