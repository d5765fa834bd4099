#!/usr/bin/env bash
# Runs bench.py against a freshly started bin/millrace. Options are bench.py's (--scale, --runs, -k, --json, ...).
#   PEER=sc://host:port  a server to compare with, a real Spark for instance; PEER_NAME is what to call it (spark)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../scripts/venv.sh")
# shellcheck disable=SC2016 # expanded by the inner shell, which knows the server's address
exec "$here/../scripts/with-server.sh" bash -c '
  python=$1 bench=$2; shift 2
  exec "$python" "$bench" --remote "millrace=$REMOTE" ${PEER:+--remote "${PEER_NAME:-spark}=$PEER"} --pid "millrace=$SERVER_PID" "$@"
' bench "$python" "$here/bench.py" "$@"
