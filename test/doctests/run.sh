#!/usr/bin/env bash
# Runs the examples in PySpark's documentation against a freshly started bin/millrace, or another server:
#
#   run.sh                  all that pass on Spark; fails if one of must_pass.txt fails
#   run.sh --update         the same; adds what passes to must_pass.txt and writes docs/compatibility.md
#   run.sh -v -k avg        other options are doctests.py's (see README.md)
#   run.sh --remote URL     against this server
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../../scripts/venv.sh")
export PYTHONDONTWRITEBYTECODE=1 TZ=UTC
for a in "$@"; do
  case $a in
    -h | --help) sed -n '2,7p' "$0"; exit ;;
    --remote | --remote=*) exec "$python" "$here/must_pass.py" "$@" ;;
  esac
done
# shellcheck disable=SC2016 # the inner shell knows the server's address
exec "$here/../../scripts/with-server.sh" bash -c 'exec "$@" --remote "$REMOTE"' run "$python" "$here/must_pass.py" "$@"
