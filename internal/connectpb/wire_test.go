package connectpb_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/millrace/millrace/internal/connectpb"
)

const (
	reference   = "testdata/schema.txt"
	wheelScript = "../../tools/protogen/wheel_schema.py"

	// pythonVar names a Python interpreter that has pyspark-client installed.
	pythonVar = "MILLRACE_PYTHON"
)

// TestSchemaMatchesPySpark compares the compiled descriptors with the listing of PySpark's.
func TestSchemaMatchesPySpark(t *testing.T) {
	_, want := readReference(t)
	report(t, difference(want, listing(compiled())))
}

// TestReferenceMatchesWheel takes the listing anew from an installed wheel, so that the
// checked-in one can't have been edited to fit.
func TestReferenceMatchesWheel(t *testing.T) {
	python := os.Getenv(pythonVar)
	if python == "" {
		t.Skipf("%s is not set: it names a Python with pyspark-client installed", pythonVar)
	}
	cmd := exec.CommandContext(t.Context(), python, wheelScript)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the wheel's schema: %v\n%s", err, stderr.String())
	}
	wantHead, want := parseListing(t, string(out))
	head, have := readReference(t)
	if head != wantHead {
		t.Errorf("%s is from another version:\n- %s\n+ %s", reference, wantHead, head)
	}
	report(t, difference(want, have))
}

// TestSchemaCheckNotices damages the descriptors in one way at a time. A check that lets one
// of these through would not protect a client either.
func TestSchemaCheckNotices(t *testing.T) {
	const base, relations, expressions = "spark/connect/base.proto", "spark/connect/relations.proto", "spark/connect/expressions.proto"
	tests := []struct {
		name   string
		file   string
		damage func(*descriptorpb.FileDescriptorProto)
		line   string // start of a line that must be missed
	}{
		{"field number", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "Limit", "limit").Number = proto.Int32(3)
		}, "spark.connect.Limit.limit field 2"},
		{"field name", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "Limit", "limit").Name = proto.String("limits")
		}, "spark.connect.Limit.limit field"},
		{"JSON name", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "Limit", "limit").JsonName = proto.String("max")
		}, "spark.connect.Limit.limit field"},
		{"field type", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "Limit", "limit").Type = descriptorpb.FieldDescriptorProto_TYPE_SINT32.Enum()
		}, "spark.connect.Limit.limit field"},
		{"message type of a field", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "Limit", "input").TypeName = proto.String(".spark.connect.Limit")
		}, "spark.connect.Limit.input field"},
		{"label", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "Limit", "limit").Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}, "spark.connect.Limit.limit field"},
		{"packing", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "StatApproxQuantile", "probabilities").Options = &descriptorpb.FieldOptions{Packed: proto.Bool(false)}
		}, "spark.connect.StatApproxQuantile.probabilities field"},
		{"presence", relations, func(f *descriptorpb.FileDescriptorProto) {
			m := message(f, "Sort")
			m.OneofDecl = nil
			g := field(f, "Sort", "is_global")
			g.OneofIndex, g.Proto3Optional = nil, nil
		}, "spark.connect.Sort.is_global field"},
		{"field left out of its oneof", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "Read", "data_source").OneofIndex = nil
		}, "spark.connect.Read.data_source field"},
		{"name of a oneof", relations, func(f *descriptorpb.FileDescriptorProto) {
			message(f, "Read").OneofDecl[0].Name = proto.String("kind")
		}, "spark.connect.Read.named_table field"},
		{"deprecation", relations, func(f *descriptorpb.FileDescriptorProto) {
			field(f, "SQL", "args").Options = nil
		}, "spark.connect.SQL.args field"},
		{"missing field", relations, func(f *descriptorpb.FileDescriptorProto) {
			m := message(f, "Limit")
			m.Field = m.Field[:1]
		}, "spark.connect.Limit.limit field"},
		{"additional field", relations, func(f *descriptorpb.FileDescriptorProto) {
			m := message(f, "Unknown")
			m.Field = append(m.Field, &descriptorpb.FieldDescriptorProto{
				Name: proto.String("why"), Number: proto.Int32(1),
				Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
				Type:  descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
			})
		}, ""},
		{"map key", relations, func(f *descriptorpb.FileDescriptorProto) {
			message(f, "Parse").NestedType[0].Field[0].Type = descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()
		}, "spark.connect.Parse.OptionsEntry.key field"},
		{"map made a plain message", relations, func(f *descriptorpb.FileDescriptorProto) {
			message(f, "Parse").NestedType[0].Options = nil
		}, "spark.connect.Parse.OptionsEntry message"},
		{"reserved numbers", expressions, func(f *descriptorpb.FileDescriptorProto) {
			for _, m := range message(f, "Expression").NestedType {
				m.ReservedRange = nil
			}
		}, "spark.connect.Expression.Literal reserved 27-27"},
		{"reserved names", relations, func(f *descriptorpb.FileDescriptorProto) {
			message(f, "CachedLocalRelation").ReservedName = nil
		}, "spark.connect.CachedLocalRelation reserved userId"},
		{"enum value", base, func(f *descriptorpb.FileDescriptorProto) {
			f.EnumType[0].Value[1].Number = proto.Int32(2)
		}, "spark.connect.CompressionCodec.COMPRESSION_CODEC_ZSTD value 1"},
		{"missing enum value", base, func(f *descriptorpb.FileDescriptorProto) {
			f.EnumType[0].Value = f.EnumType[0].Value[:1]
		}, "spark.connect.CompressionCodec.COMPRESSION_CODEC_ZSTD value 1"},
		{"streaming of a method", base, func(f *descriptorpb.FileDescriptorProto) {
			f.Service[0].Method[0].ServerStreaming = proto.Bool(false)
		}, "spark.connect.SparkConnectService.ExecutePlan method"},
		{"answer of a method", base, func(f *descriptorpb.FileDescriptorProto) {
			f.Service[0].Method[0].OutputType = proto.String(".spark.connect.ConfigResponse")
		}, "spark.connect.SparkConnectService.ExecutePlan method"},
		{"missing method", base, func(f *descriptorpb.FileDescriptorProto) {
			f.Service[0].Method = f.Service[0].Method[1:]
		}, "spark.connect.SparkConnectService.ExecutePlan method"},
	}
	_, want := readReference(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			diff := difference(want, listing(rebuild(t, tt.file, tt.damage)))
			if len(diff) == 0 {
				t.Fatal("not noticed")
			}
			for _, line := range diff {
				if tt.line == "" || strings.HasPrefix(line, "- "+tt.line) {
					return
				}
			}
			t.Errorf("noticed, but not as %q:\n%s", tt.line, strings.Join(diff, "\n"))
		})
	}
	if diff := difference(want, listing(rebuild(t, base, func(*descriptorpb.FileDescriptorProto) {}))); len(diff) > 0 {
		t.Errorf("undamaged descriptors differ:\n%s", strings.Join(diff, "\n"))
	}
}

// compiled returns the descriptors that the generated code registers.
func compiled() []protoreflect.FileDescriptor {
	var files []protoreflect.FileDescriptor
	pkg := connectpb.File_spark_connect_base_proto.Package()
	protoregistry.GlobalFiles.RangeFilesByPackage(pkg, func(f protoreflect.FileDescriptor) bool {
		files = append(files, f)
		return true
	})
	return files
}

// rebuild returns copies of the compiled descriptors with damage done to one file.
func rebuild(t *testing.T, path string, damage func(*descriptorpb.FileDescriptorProto)) []protoreflect.FileDescriptor {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		p := protodesc.ToFileDescriptorProto(f)
		if f.Path() == path {
			damage(p)
		}
		set.File = append(set.File, p)
	}
	for _, f := range compiled() {
		add(f)
	}
	registry, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	var files []protoreflect.FileDescriptor
	registry.RangeFilesByPackage("spark.connect", func(f protoreflect.FileDescriptor) bool {
		files = append(files, f)
		return true
	})
	return files
}

func message(f *descriptorpb.FileDescriptorProto, name string) *descriptorpb.DescriptorProto {
	for _, m := range f.MessageType {
		if m.GetName() == name {
			return m
		}
	}
	panic("no message " + name)
}

func field(f *descriptorpb.FileDescriptorProto, msg, name string) *descriptorpb.FieldDescriptorProto {
	for _, g := range message(f, msg).Field {
		if g.GetName() == name {
			return g
		}
	}
	panic("no field " + msg + "." + name)
}

func readReference(t *testing.T) (head string, lines []string) {
	t.Helper()
	b, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	return parseListing(t, string(b))
}

// parseListing splits off the first line, which names the version of PySpark.
func parseListing(t *testing.T, text string) (head string, lines []string) {
	t.Helper()
	head, rest, ok := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	lines = strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	if !ok || !strings.HasPrefix(head, "# ") || len(lines) < 1000 {
		t.Fatalf("not a whole listing: %d lines after %q", len(lines), head)
	}
	return head, lines
}

func report(t *testing.T, diff []string) {
	t.Helper()
	if len(diff) > 0 {
		t.Errorf("%d differences (-PySpark +ours):\n%s", len(diff), strings.Join(diff, "\n"))
	}
}
