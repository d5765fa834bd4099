"""Prints the Spark Connect schema of the installed PySpark, one sorted line a definition.

    pip install pyspark-client==4.2.0
    python tools/protogen/wheel_schema.py > internal/connectpb/testdata/schema.txt

The listing holds what decides whether two programs understand each other: names, numbers,
types, labels, oneofs, JSON names, enum values, reserved ranges and methods. The tests of
internal/connectpb print our own descriptors the same way and compare. Nothing is contacted.
"""

import importlib
from importlib import metadata

from google.protobuf import descriptor_pb2

# example_plugins is left out: no other file imports it, it only serves PySpark's own tests.
FILES = ["base", "catalog", "commands", "common", "expressions", "ml", "ml_common",
         "pipelines", "relations", "types"]

FIELD = descriptor_pb2.FieldDescriptorProto


def words(*parts):
    return " ".join(str(p) for p in parts if p)


def field(name, d, f, oneofs):
    label = "repeated" if f.label == FIELD.LABEL_REPEATED else "singular"
    oneof = ""
    if f.proto3_optional:
        label = "optional"
    elif f.HasField("oneof_index"):
        oneof = "oneof=" + oneofs[f.oneof_index].name
    packed = ""
    if f.options.HasField("packed"):
        packed = "packed=" + ("true" if f.options.packed else "false")
    # The generated modules carry no JSON names: the run time works them out.
    json = "json=" + d.fields_by_name[f.name].json_name
    kind = FIELD.Type.Name(f.type).removeprefix("TYPE_").lower()
    return words(name + "." + f.name, "field", f.number, label, kind, f.type_name.lstrip("."),
                 json, oneof, packed, f.options.deprecated and "deprecated")


def message(d, m, path):
    name = d.full_name
    yield words(name, "message", path, m.options.map_entry and "map",
                m.options.deprecated and "deprecated")
    for f in m.field:
        yield field(name, d, f, m.oneof_decl)
    for r in m.reserved_range:
        yield words(name, "reserved", "%d-%d" % (r.start, r.end - 1))
    for n in m.reserved_name:
        yield words(name, "reserved", n)
    for e in m.enum_type:
        yield from enum(name + "." + e.name, e, path)
    for n in m.nested_type:
        yield from message(d.nested_types_by_name[n.name], n, path)


def enum(name, e, path):
    yield words(name, "enum", path, e.options.allow_alias and "alias",
                e.options.deprecated and "deprecated")
    for v in e.value:
        yield words(name + "." + v.name, "value %d" % v.number,
                    v.options.deprecated and "deprecated")
    for r in e.reserved_range:
        yield words(name, "reserved", "%d-%d" % (r.start, r.end))
    for n in e.reserved_name:
        yield words(name, "reserved", n)


def service(name, s, path):
    yield words(name, "service", path, s.options.deprecated and "deprecated")
    for m in s.method:
        yield words(name + "." + m.name, "method",
                    m.client_streaming and "stream", m.input_type.lstrip("."), "->",
                    m.server_streaming and "stream", m.output_type.lstrip("."),
                    m.options.deprecated and "deprecated")


def schema():
    for short in FILES:
        d = importlib.import_module("pyspark.sql.connect.proto.%s_pb2" % short).DESCRIPTOR
        p = descriptor_pb2.FileDescriptorProto()
        d.CopyToProto(p)
        yield words(p.name, "file", p.syntax, p.package)
        for m in p.message_type:
            yield from message(d.message_types_by_name[m.name], m, p.name)
        for e in p.enum_type:
            yield from enum(p.package + "." + e.name, e, p.name)
        for s in p.service:
            yield from service(p.package + "." + s.name, s, p.name)


def version():
    for name in ("pyspark-client", "pyspark"):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return "unknown"


if __name__ == "__main__":
    print("# Spark Connect schema of PySpark %s, written by tools/protogen/wheel_schema.py" % version())
    print("\n".join(sorted(schema())))
