#!/usr/bin/env bash
# Runs every workload once, at a scale at which figures mean nothing, and fails if one of smoke.txt doesn't run.
# A workload that runs and isn't listed is named, so that it gets listed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../scripts/venv.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/run.sh" --scale "${SCALE:-0.002}" --runs 0 --data "$work/data" --json "$work/results.json" "$@"
"$python" - "$work/results.json" "$here/smoke.txt" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    ran = {name for name, r in json.load(f).items() if r["median"]["millrace"] is not None}
with open(sys.argv[2]) as f:
    listed = [line.strip() for line in f if line.strip() and not line.startswith("#")]
failed = [name for name in listed if name not in ran]
for name in sorted(ran - set(listed)):
    print(f"runs and is not listed in bench/smoke.txt: {name}")
for name in failed:
    print(f"LISTED WORKLOAD FAILS: {name}")
print(f"bench smoke: {len(listed)} listed, {len(failed)} of them failed")
sys.exit(1 if failed or not listed else 0)
PY
