#!/usr/bin/env bash
# Starts bin/millrace on a free port, runs a command against it and stops it again:
#
#   scripts/with-server.sh COMMAND [ARG...]
#
# The command finds the server's address in $REMOTE (sc://127.0.0.1:PORT) and its process in $SERVER_PID.
# Relative paths that the server writes (spark-warehouse) stay in a temporary directory that is removed.
# The exit code is the command's; a server that dies or does not stop when told to makes it a failure.
#   SERVER_LOG   keep the server's log in this file
#   SERVER_ARGS  more arguments of "millrace serve", blank-separated; what it logs at the level INFO is needed here
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || { sed -n '2,11p' "$0" >&2; exit 2; }
[ -x "$root/bin/millrace" ] || { echo "with-server: bin/millrace is missing, run make build" >&2; exit 2; }

wait=600 # seconds for coming up and for going down: a machine that is busy otherwise takes its time
dir=$(mktemp -d)
log=${SERVER_LOG:-$dir/log}
case $log in /*) ;; *) log=$PWD/$log ;; esac
pid=
cleanup() {
  [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The server chooses its port and says so: one found here could be another process's before the server has it.
# shellcheck disable=SC2086 # SERVER_ARGS is a list
(cd "$dir" && exec "$root/bin/millrace" serve --listen 127.0.0.1:0 ${SERVER_ARGS:-}) >"$log" 2>&1 </dev/null &
pid=$!
remote=
for _ in $(seq "$((wait * 20))"); do
  remote=$(sed -n 's/.*msg="serving Spark Connect" url=\(sc:[^ ]*\)$/\1/p' "$log")
  [ -z "$remote" ] || break
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.05
done
[ -n "$remote" ] || { echo "with-server: the server did not come up:" >&2; tail -n 20 "$log" >&2; exit 1; }

rc=0
REMOTE=$remote SERVER_PID=$pid "$@" || rc=$?

if ! kill "$pid" 2>/dev/null; then
  echo "with-server: the server ended before it was told to:" >&2
  tail -n 40 "$log" >&2
  exit 1
fi
for _ in $(seq "$((wait * 20))"); do
  kill -0 "$pid" 2>/dev/null || { stopped=1; break; }
  sleep 0.05
done
if [ -z "${stopped:-}" ]; then
  echo "with-server: the server did not stop within $wait s:" >&2
  tail -n 20 "$log" >&2
  rc=1
fi
pid=
[ "$rc" = 0 ] || [ ! -s "$log" ] || { echo "with-server: the end of the server's log:" >&2; tail -n 10 "$log" >&2; }
exit "$rc"
