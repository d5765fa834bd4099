#!/usr/bin/env bash
# Two millrace servers and one delta-rs process append to one Delta table at once; nothing may be lost or written twice.
#
#   run.sh [SECONDS]       how long they write (120)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
server=$here/../../scripts/with-server.sh
case ${1:-} in
  --second) FIRST=$REMOTE exec "$server" "$0" --writers "$2" ;;
  --writers) exec "$PYTHON" "$here/writers.py" "$FIRST" "$REMOTE" "$2" ;;
esac
PYTHON=${PYTHON:-$("$here/../../scripts/venv.sh")}
export PYTHON
exec "$server" "$0" --second "${1:-120}"
