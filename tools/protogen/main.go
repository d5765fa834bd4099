// Command protogen writes the Go code of the protocol buffers under proto/.
//
//	go -C tools run ./protogen          # write what is stale
//	go -C tools run ./protogen -check   # write nothing, fail if anything is stale
//
// It needs no protoc: the compiler is a Go library and the two code generators are Go
// tools of this module, run as plugins with the request protoc would send them.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", "..", "root of the repository")
	check := flag.Bool("check", false, "report stale files instead of writing them")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	protos, err := findProtos(root)
	if err != nil {
		return err
	}
	want, err := generate(root, protos)
	if err != nil {
		return err
	}
	stale, err := compare(root, want)
	if err != nil {
		return err
	}
	if check {
		for _, f := range stale {
			fmt.Fprintln(os.Stderr, "stale:", f)
		}
		if len(stale) > 0 {
			return fmt.Errorf("%d of %d generated files are stale, run make gen", len(stale), len(want))
		}
		return nil
	}
	return update(root, want, stale)
}
