#!/usr/bin/env bash
# Compares internal/connectpb with the wheel that scripts/requirements.txt pins.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../../scripts/venv.sh")
set_file=$(mktemp)
trap 'rm -f "$set_file"' EXIT
"$python" - >"$set_file" <<'PY'
import importlib
import pkgutil
import sys

from google.protobuf import descriptor_pb2
from pyspark.sql.connect import proto

out = descriptor_pb2.FileDescriptorSet()
for module in sorted(m.name for m in pkgutil.iter_modules(proto.__path__)):
    if module.endswith("_pb2"):
        importlib.import_module(proto.__name__ + "." + module).DESCRIPTOR.CopyToProto(out.file.add())
sys.stdout.buffer.write(out.SerializeToString())
PY
cd "$here"
WHEEL_DESCRIPTORS=$set_file go test -count=1 -tags wheel .
