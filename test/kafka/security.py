#!/usr/bin/env python3
"""Writes and reads a topic through the secured listener of a broker, with the settings that kafka.sh prints for a Java client, and is refused
with a wrong password and without the certificate.

  AUTH=sasl_ssl PORT=… DIR=… KAFKA_SH=./kafka.sh security.py --remote sc://… --bootstrap 127.0.0.1:PORT
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kafka_lib import Kafka, leave  # noqa: E402


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--remote", required=True)
    ap.add_argument("--bootstrap", required=True, help="the open listener, for making topics")
    a = ap.parse_args()
    props = dict(line.split("=", 1) for line in subprocess.run(
        [os.environ["KAFKA_SH"], "client-props"], check=True, capture_output=True, text=True).stdout.splitlines())
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.remote(a.remote).create()
    kafka = Kafka(a.bootstrap)
    t = kafka.topic("secured")

    def both(settings):
        w = spark.sql("SELECT 'v' AS value").write.format("kafka").option("topic", t)
        r = spark.read.format("kafka").option("subscribe", t)
        for k, v in settings.items():
            w, r = w.option("kafka." + k, v), r.option("kafka." + k, v)
        w.save()
        return [bytes(x[0]).decode() for x in r.load().select("value").collect()]

    def refused(settings, what):
        try:
            both(settings | {"request.timeout.ms": "8000", "default.api.timeout.ms": "10000", "max.block.ms": "8000", "delivery.timeout.ms": "10000"})
        except Exception as e:  # noqa: BLE001
            assert what.lower() in str(e).lower(), e
            return
        raise AssertionError(f"not refused: {settings}")

    assert both(props) == ["v"]
    if "sasl.jaas.config" in props:
        wrong = props | {"sasl.jaas.config": props["sasl.jaas.config"].replace('password="', 'password="no-')}
        refused(wrong, "SASL_AUTHENTICATION_FAILED")
    if "ssl.truststore.location" in props:
        refused({k: v for k, v in props.items() if not k.startswith("ssl.truststore")}, "certificate")
        pem = os.path.join(os.path.dirname(props["ssl.truststore.location"]), "ca.pem")
        bare = {k: v for k, v in props.items() if not k.startswith("ssl.truststore")}
        assert both(bare | {"ssl.truststore.location": pem, "ssl.truststore.type": "PEM"}) == ["v", "v"]
    print(f"ok   {os.environ.get('AUTH')}")


if __name__ == "__main__":
    main()
    leave(0)
