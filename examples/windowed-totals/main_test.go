package main

import (
	"context"
	"fmt"
)

func Example() {
	if err := run(context.Background(), "local[2]", ""); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 10:00 30
	// 10:10 30
}
