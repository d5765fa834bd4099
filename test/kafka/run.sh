#!/usr/bin/env bash
# Kafka against a freshly started bin/millrace and a real Apache Kafka broker, which kafka.sh starts and which is removed again:
#
#   run.sh                  all of the next four, as CI does
#   run.sh cases [OPTIONS]  what was recorded from Spark; options are kafka_conform.py's: --only sink_
#   run.sh faults           the broker goes away, partitions come, records and topics go; DOWN=30 seconds without a broker
#   run.sh security         SASL and TLS, in four combinations
#   run.sh kill [N]         N times (3) each: queries of test/kill from a topic to a topic and into Delta tables are killed
#   run.sh bench [OPTIONS]  throughput and latency (kafka_bench.py); PEER=sc://host:port is measured beside
#
# Needs Java 17 and mvn for the broker. PORT is its port.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
what=${1:-all}
[ $# = 0 ] || shift
case $what in all | cases | faults | security | kill | bench) ;; *) sed -n '2,11p' "$0"; exit 2 ;; esac
PYTHON=$("$root/scripts/venv.sh")
# The broker's ports have to be known before it is started, and others may look for some as well: of a range that systems give to nobody.
PORT=${PORT:-$("$PYTHON" -c '
import random, socket
def free(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) != 0
print(next(p for p in iter(lambda: random.randrange(20000, 30000, 4), None) if all(free(p + i) for i in range(3))))')}
export PYTHON PORT DIR=${TMPDIR:-/tmp}/millrace-test-kafka-$PORT KAFKA_SH=$here/kafka.sh BROKER=127.0.0.1:$PORT HERE=$here
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
trap '"$KAFKA_SH" wipe' EXIT

# remote PROGRAM OPTION...: runs a program of this folder with a server.
remote() { "$root/scripts/with-server.sh" bash -c 'p=$1 && shift && exec "$PYTHON" "$HERE/$p" --bootstrap "$BROKER" --remote "$REMOTE" "$@"' remote "$@"; }

"$KAFKA_SH" start
case $what in all | cases) remote kafka_conform.py --check "$here/goldens" "$@" ;; esac
case $what in all | faults) remote faults.py --down "${DOWN:-5}" ;; esac
case $what in all | kill)
  (cd "$root" && go run ./test/kill -n "${1:-3}" -broker "$BROKER" -python "$PYTHON" kafka-windows-kafka kafka-rows-delta kafka-windows-delta)
  ;;
esac
case $what in bench)
  "$root/scripts/with-server.sh" bash -c '"$PYTHON" "$HERE/kafka_bench.py" --bootstrap "$BROKER" --remote millrace="$REMOTE" ${PEER:+--remote peer="$PEER"} "$@"' bench "$@"
  ;;
esac
case $what in all | security)
  for AUTH in plain scram ssl sasl_ssl; do
    export AUTH
    "$KAFKA_SH" wipe
    "$KAFKA_SH" start
    remote security.py
  done
  ;;
esac
