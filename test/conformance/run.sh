#!/usr/bin/env bash
# Runs the conformance cases against a freshly started bin/millrace, or another server:
#
#   run.sh                  all cases; fails if one of must_pass.txt fails
#   run.sh --listed         only the cases of must_pass.txt
#   run.sh --update         all cases; adds those that passed twice to must_pass.txt
#   run.sh --suite delta    the cases of delta_cases, held against must_pass-delta.txt
#   run.sh -k f04_ -v       other options are conform.py's (see README.md)
#   run.sh --remote URL     against this server instead of bin/millrace
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../../scripts/venv.sh")
export PYTHONDONTWRITEBYTECODE=1
for a in "$@"; do
  case $a in
    -h | --help) sed -n '2,9p' "$0"; exit ;;
    --remote | --remote=*) exec "$python" "$here/must_pass.py" "$@" ;;
  esac
done
exec "$here/../../scripts/with-server.sh" "$python" "$here/must_pass.py" "$@"
