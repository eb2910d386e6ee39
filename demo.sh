#!/usr/bin/env bash
# The README's first command: sets up all and runs the main job on softmax 64x512.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
exec .venv/bin/perfdojoc perfdojo/kernels/softmax.ir --target avx512
