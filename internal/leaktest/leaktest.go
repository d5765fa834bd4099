// Package leaktest fails the tests of a package that leave goroutines behind. It wraps goleak, which waits for under half a second: on a
// machine that is busy otherwise a goroutine that has been told to end may not have come to it by then. This package knows nothing of the
// engine; its own test holds a goroutine up for as long as it wants.
package leaktest

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience is a net for goroutines that never end; those that do are not waited for any longer than they take.
const patience = 2 * time.Minute

// Main runs the tests, as the TestMain of a package, and ends the process: with 1 if they passed and left goroutines behind.
func Main(m interface{ Run() int }) {
	code := m.Run()
	if code == 0 {
		if err := find(time.Now().Add(patience)); err != nil {
			fmt.Fprintf(os.Stderr, "the tests passed and left goroutines behind: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// find waits until no goroutine is left, or returns those that there are at the deadline.
func find(deadline time.Time) error {
	for {
		err := goleak.Find() // sleeps between its own looks
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
