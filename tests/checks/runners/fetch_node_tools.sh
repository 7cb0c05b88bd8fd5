#!/bin/sh
# The runners that tests/checks/runners/test_javascript.py drives, once, into a folder that is kept.
set -e
tools="${DEVTEAM_NODE_TOOLS:-/tmp/devteam-node-tools}"
mkdir -p "$tools"
cd "$tools"
[ -d node_modules ] || npm install --silent --no-audit --no-fund --prefix . mocha@10 tape@5 jest@29 vitest@1 chai@4
