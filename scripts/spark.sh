#!/usr/bin/env bash
# A real Apache Spark Connect server on 127.0.0.1: what results are recorded from, and the peer for speed.
#
#   spark.sh start | stop | status | python
#
# Needs Python 3.11 with venv and Java 17. "python" prints a Python that has the server's pyspark, pandas and pyarrow.
#
#   PORT   Connect port                            (default 15099)
#   HEAP   driver memory                           (default 2g)
#   CORES  local[CORES]                            (default 2)
#   CONF   more settings, blank-separated k=v      (default none)
#   DIR    log, pid and warehouse                  (default a folder of this port in the temporary directory)
#
# Restart it after some hundred queries: it keeps the progress and state of ended ones in its heap.
set -euo pipefail
cd "$(dirname "$0")/.."
PORT=${PORT:-15099} HEAP=${HEAP:-2g} CORES=${CORES:-2} CONF=${CONF:-}
DIR=${DIR:-${TMPDIR:-/tmp}/millrace-spark-$PORT}
VERSION=4.2.0
VENV=$PWD/.cache/spark-$VERSION
PIDFILE=$DIR/pid

say() { printf 'spark.sh: %s\n' "$*" >&2; }
alive() { [ -s "$PIDFILE" ] && kill -0 "$(cat "$PIDFILE")" 2>/dev/null; }

install() {
  [ -e "$VENV/.complete" ] && return
  say "installing pyspark $VERSION into $VENV"
  rm -rf "$VENV"
  "${PYTHON:-python3}" -m venv "$VENV"
  "$VENV/bin/pip" install -q --disable-pip-version-check "pyspark[connect]==$VERSION" 'pandas>=2.2,<3' pyarrow numpy >&2
  touch "$VENV/.complete"
}

start() {
  if alive; then
    say "already running on $PORT"
    return
  fi
  install
  mkdir -p "$DIR"
  local extra=() kv
  for kv in $CONF; do extra+=(--conf "$kv"); done
  SPARK_HOME=$("$VENV/bin/python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
  export SPARK_HOME PYSPARK_PYTHON=$VENV/bin/python
  (cd "$DIR" && exec setsid "$SPARK_HOME/bin/spark-submit" --master "local[$CORES]" --driver-memory "$HEAP" \
    --class org.apache.spark.sql.connect.service.SparkConnectServer \
    --conf spark.connect.grpc.binding.address=127.0.0.1 --conf spark.connect.grpc.binding.port="$PORT" \
    --conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1 \
    --conf spark.ui.enabled=false --conf spark.sql.session.timeZone=UTC \
    --conf spark.driver.extraJavaOptions=-Duser.timezone=UTC \
    ${extra[@]+"${extra[@]}"} spark-internal) >"$DIR/log" 2>&1 </dev/null &
  echo $! >"$PIDFILE"
  for _ in $(seq 120); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; then
      say "sc://127.0.0.1:$PORT"
      return
    fi
    alive || break
    sleep 0.5
  done
  tail -n 5 "$DIR/log" >&2
  say "no answer on $PORT"
  return 1
}

stop() {
  if alive; then
    local pid
    pid=$(cat "$PIDFILE")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 40); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.25
    done
    kill -9 "$pid" 2>/dev/null || true
  fi
  rm -f "$PIDFILE"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  status) if alive; then echo "running on $PORT, pid $(cat "$PIDFILE")"; else echo "not running"; exit 1; fi ;;
  python) install && echo "$VENV/bin/python" ;;
  *) sed -n '2,15p' "$0"; exit 2 ;;
esac
