package main

import (
	"context"
	"fmt"
)

func Example() {
	if err := run(context.Background(), "", ""); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"start":"2026-01-01T10:00:00.000Z","shop":"Oslo","total":17}
	// {"start":"2026-01-01T10:00:00.000Z","shop":"Rome","total":5}
	// {"start":"2026-01-01T10:10:00.000Z","shop":"Rome","total":1}
}
