package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const module = "github.com/millrace/millrace"

// plugins are the tools of this module that turn descriptors into Go code.
var plugins = []string{"protoc-gen-go", "protoc-gen-go-grpc"}

// findProtos lists the files below root/proto by their import paths, sorted.
func findProtos(root string) ([]string, error) {
	var names []string
	dir := os.DirFS(filepath.Join(root, "proto"))
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".proto" {
			names = append(names, path)
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no .proto files below %s", filepath.Join(root, "proto"))
	}
	return names, err
}

// generate returns the content of every generated file by its path below root.
func generate(root string, protos []string) (map[string][]byte, error) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{filepath.Join(root, "proto")},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard, // the comments go into the Go code
	}
	files, err := compiler.Compile(context.Background(), protos...)
	if err != nil {
		return nil, err
	}
	req := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: protos,
		Parameter:      proto.String("module=" + module),
	}
	seen := map[string]bool{}
	for _, f := range files {
		req.ProtoFile = appendWithImports(req.ProtoFile, f, seen)
	}
	out := map[string][]byte{}
	for _, p := range plugins {
		if err := runPlugin(p, req, out); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	return out, nil
}

// appendWithImports adds f after everything it imports, the order plugins rely on.
func appendWithImports(list []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return list
	}
	seen[f.Path()] = true
	imports := f.Imports()
	for i := range imports.Len() {
		list = appendWithImports(list, imports.Get(i).FileDescriptor, seen)
	}
	return append(list, protoutil.ProtoFromFileDescriptor(f))
}

func runPlugin(name string, req *pluginpb.CodeGeneratorRequest, out map[string][]byte) error {
	in, err := proto.MarshalOptions{Deterministic: true}.Marshal(req)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", name)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return err
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(answer, &resp); err != nil {
		return err
	}
	if resp.Error != nil {
		return fmt.Errorf("%s", resp.GetError())
	}
	for _, f := range resp.File {
		out[f.GetName()] = []byte(f.GetContent())
	}
	return nil
}

// compare lists the files that differ from want, are missing, or are left over from a
// .proto file that no longer exists.
func compare(root string, want map[string][]byte) ([]string, error) {
	var stale []string
	dirs := map[string]bool{}
	for name, content := range want {
		dirs[filepath.Dir(name)] = true
		have, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		if err != nil || !bytes.Equal(have, content) {
			stale = append(stale, name)
		}
	}
	for dir := range dirs {
		found, err := filepath.Glob(filepath.Join(root, dir, "*.pb.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			name := filepath.Join(dir, filepath.Base(path))
			if _, ok := want[name]; !ok {
				stale = append(stale, name)
			}
		}
	}
	slices.Sort(stale)
	return stale, nil
}

// update brings the stale files to the content in want and removes those not in it.
func update(root string, want map[string][]byte, stale []string) error {
	for _, name := range stale {
		path := filepath.Join(root, name)
		content, ok := want[name]
		if !ok {
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
