//go:build wheel

package descriptors

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "github.com/millrace/millrace/internal/connectpb" // registers the files that are compared
)

// notOurs are files of the wheel that no request or response needs.
var notOurs = map[string]bool{"spark/connect/example_plugins.proto": true}

func TestProtocolIsThatOfTheWheel(t *testing.T) {
	raw, err := os.ReadFile(os.Getenv("WHEEL_DESCRIPTORS"))
	if err != nil {
		t.Fatal("start it with run.sh: ", err)
	}
	var wheel descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(raw, &wheel); err != nil {
		t.Fatal(err)
	}
	ours := map[string]*descriptorpb.FileDescriptorProto{}
	protoregistry.GlobalFiles.RangeFilesByPackage("spark.connect", func(f protoreflect.FileDescriptor) bool {
		ours[f.Path()] = protodesc.ToFileDescriptorProto(f)
		return true
	})
	compared := 0
	for _, want := range wheel.GetFile() {
		name := want.GetName()
		if notOurs[name] {
			continue
		}
		got := ours[name]
		if got == nil {
			t.Errorf("%s: we have no such file", name)
			continue
		}
		delete(ours, name)
		compared++
		// Compared is what travels. Options of files name packages of other languages, and empty ones of methods come
		// and go with the compiler; the order of imports means nothing.
		for _, f := range []*descriptorpb.FileDescriptorProto{want, got} {
			f.Options = nil
			f.PublicDependency, f.WeakDependency = nil, nil
			for _, s := range f.GetService() {
				for _, m := range s.GetMethod() {
					m.Options = nil
				}
			}
		}
		if d := cmp.Diff(want, got, protocmp.Transform(), protocmp.SortRepeated(func(a, b string) bool { return a < b })); d != "" {
			t.Errorf("%s differs (-wheel +ours):\n%s", name, d)
		}
	}
	for name := range ours {
		t.Errorf("%s: the wheel has no such file", name)
	}
	if compared == 0 {
		t.Error("the wheel has no files of spark.connect")
	}
}
