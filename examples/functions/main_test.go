package main

import (
	"context"
	"fmt"
)

func Example() {
	if err := run(context.Background(), "local[2]"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// a.example 100 30
	// b.example 100 20
	// a.example 2
	// b.example 1
}
