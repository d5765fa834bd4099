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
	// ann 7
	// bob 5
	// archived 3
}
