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
	// 1 Turin 5
	// 3 Bonn 3
	// 4 Lyon 7
}
