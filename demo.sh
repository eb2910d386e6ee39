#!/usr/bin/env bash
# The README's first command: sets up all and runs the main job: softmax 64 x 512 on this CPU, a matrix product on Snitch.
# Where the CPU has no AVX-512, that target is checked by emulation and not timed; then AVX2 or C is timed too.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
.venv/bin/perfdojoc perfdojo/kernels/softmax.ir --target avx512
if ! grep -qw avx512f /proc/cpuinfo; then
  .venv/bin/perfdojoc perfdojo/kernels/softmax.ir --target host
fi
.venv/bin/perfdojoc perfdojo/kernels/gemm_f64.ir -D M=32 -D N=32 -D K=32 --target snitch
