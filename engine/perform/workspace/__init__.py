"""Git: clones, snapshots, scope, commits, checkpoints, baselines, rollback, landing. The only caller of git.

`workspace.Workspace` is the door. Importing it starts no process and does not import GitPython.
"""
