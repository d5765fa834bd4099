#!/usr/bin/env bash
# Runs each client program against a freshly started bin/millrace, and then once more against one that cuts response streams
# after every message, so that clients have to reattach all the time. A program gets the server's address and an empty
# directory as arguments and fails by exiting with something else than 0.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != inside ]; then
  PYTHON=$("$here/../../scripts/venv.sh")
  export PYTHON PYTHONDONTWRITEBYTECODE=1 TZ=UTC
  "$here/../../scripts/with-server.sh" "$0" inside
  echo "clients: again, with streams cut after every message"
  SERVER_ARGS="${SERVER_ARGS:-} --conf spark.connect.execute.reattachable.senderMaxStreamSize=1b" \
    "$here/../../scripts/with-server.sh" "$0" inside
  exit
fi
passed=0 failed=0
for program in "$here"/pyspark/*.py; do
  dir=$(mktemp -d)
  name=${program#"$here/"}
  if timeout "${LIMIT:-600}" "$PYTHON" "$program" "$REMOTE" "$dir" 2> >(grep -v '^{"ts":' >&2); then
    echo "ok   $name"
    passed=$((passed + 1))
  else
    echo "FAIL $name"
    failed=$((failed + 1))
  fi
  rm -rf "$dir"
done
echo "clients: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
