package main

import (
	"context"
	"fmt"
	"os"
)

func Example() {
	dir, err := os.MkdirTemp("", "connectors")
	if err == nil {
		defer os.RemoveAll(dir)
		err = run(context.Background(), dir)
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 000000000000: 8	ERROR: DISK
	// 000000000001: 20	ERROR: NET
	// 4 lines
}
