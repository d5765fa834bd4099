package leaktest

import (
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	end := make(chan struct{})
	go func() { <-end }()
	if err := find(time.Now()); err == nil || !strings.Contains(err.Error(), "TestFind") {
		t.Errorf("of a goroutine that waits: %v", err)
	}
	time.AfterFunc(time.Second/2, func() { close(end) }) // longer than goleak waits by itself
	if err := find(time.Now().Add(patience)); err != nil {
		t.Errorf("of none: %v", err)
	}
}
