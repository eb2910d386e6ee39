#!/usr/bin/env bash
# The README's second command: sets up all and passes the tests.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh dev
exec make check PYTHON=.venv/bin/python
