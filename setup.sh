#!/usr/bin/env bash
# Sets up what a fresh Debian machine lacks: gcc and python3-venv from Debian, the package in .venv. Usage: setup.sh [extra]
set -euo pipefail
cd "$(dirname "$0")"
need=()
command -v gcc >/dev/null || need+=(gcc libc6-dev)
command -v objdump >/dev/null || need+=(binutils)
command -v make >/dev/null || need+=(make)
python3 -c 'import ensurepip, venv' 2>/dev/null || need+=(python3 python3-venv)
if [ ${#need[@]} -gt 0 ]; then
  sudo=$([ "$(id -u)" = 0 ] || command -v sudo || true)
  echo "installing from Debian: ${need[*]}" >&2
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${need[@]}" >/dev/null
fi
extra=${1:-}
stamp=.venv/installed${extra:+-$extra}
if [ ! -f "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/python -m pip install -q -e ".${extra:+[$extra]}"
  touch "$stamp"
fi
