#!/usr/bin/env bash
# Makes ./.venv from scripts/requirements.txt, unless it is there already, and prints its Python.
# PYTHON names the interpreter to make it with (default python3, 3.11 or newer).
set -euo pipefail
cd "$(dirname "$0")/.."
stamp=.venv/requirements.txt
if ! cmp -s scripts/requirements.txt "$stamp"; then
  rm -rf .venv
  "${PYTHON:-python3}" -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt >&2
  cp scripts/requirements.txt "$stamp" # last: a run that was cut short starts afresh
fi
printf '%s\n' "$PWD/.venv/bin/python"
