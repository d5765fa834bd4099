package socket

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/source"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t *testing.T, options source.Options) source.Table {
	t.Helper()
	table, err := Format{}.Open(context.Background(), source.Request{Format: "socket", Stream: true, Options: options, Env: source.Env{Now: time.Now}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestLinesAreReadOnceAndForgottenWhenCommitted(t *testing.T) {
	ctx := context.Background()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte("one\r\ntwo\nlast without end"))
		conn.Close()
	}()
	host, port, _ := net.SplitHostPort(l.Addr().String())
	s, err := open(t, source.Options{"host": host, "port": port, "includeTimestamp": "true"}).(source.Streamer).Stream(ctx, source.StreamEnv{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.LatestOffset(ctx, nil, source.LimitDefault); err != nil {
		t.Fatal(err)
	}
	<-sent
	<-s.(*stream).done
	end, err := s.LatestOffset(ctx, nil, source.LimitDefault)
	if err != nil || string(end) != "2" {
		t.Fatalf("latest offset %s, %v; want 2", end, err)
	}
	if got := read(t, s, nil, end); got != 3 {
		t.Errorf("%d lines, want 3", got)
	}
	if got := read(t, s, source.Offset("0"), end); got != 2 {
		t.Errorf("%d lines after the first, want 2", got)
	}
	if err := s.Commit(ctx, source.Offset("1")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Plan(ctx, nil, end); !errclass.Has(err, "INVALID_STREAMING_OPTION.VALUE") {
		t.Errorf("lines that were committed can be read again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, s source.Stream, from, to source.Offset) int {
	t.Helper()
	splits, err := s.Plan(context.Background(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, sp := range splits {
		r, err := sp.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		n += int(rec.NumRows())
	}
	return n
}

func TestMissingOptionsAreNamed(t *testing.T) {
	for _, c := range []struct {
		options source.Options
		class   string
	}{
		{source.Options{"port": "1"}, "INVALID_STREAMING_OPTION.NO_HOST"},
		{source.Options{"host": "localhost"}, "INVALID_STREAMING_OPTION.NO_PORT"},
		{source.Options{"host": "localhost", "port": "many"}, "INVALID_STREAMING_OPTION.NOT_A_NUMBER"},
		{source.Options{"host": "localhost", "port": "1", "includeTimestamp": "perhaps"}, "INVALID_STREAMING_OPTION.VALUE"},
	} {
		_, err := Format{}.Open(context.Background(), source.Request{Format: "socket", Stream: true, Options: c.options})
		if !errclass.Has(err, c.class) {
			t.Errorf("%v: got %v, want %s", c.options, err, c.class)
		}
	}
}
