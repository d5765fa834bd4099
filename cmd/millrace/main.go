// Command millrace runs the engine: as a Spark Connect server, or as a SQL shell.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // time zones on machines that have none

	"github.com/alecthomas/kong"

	"github.com/millrace/millrace/internal/session"
)

var version = "dev" // set by the linker

type cli struct {
	Serve      serveCmd      `cmd:"" help:"Serve Spark Connect."`
	SQL        sqlCmd        `cmd:"" name:"sql" help:"Run SQL statements."`
	Checkpoint checkpointCmd `cmd:"" help:"Look at a query's checkpoint, and repair it."`
	Version    versionCmd    `cmd:"" help:"Show the version."`
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	v := version
	if info, ok := debug.ReadBuildInfo(); ok && v == "dev" && info.Main.Version != "" {
		v = info.Main.Version
	}
	_, err := fmt.Printf("millrace %s (Spark %s)\n", v, session.Version)
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200) // batches are short-lived and large: fewer collections are worth the memory
	}
	var c cli
	k := kong.Parse(&c, kong.Name("millrace"),
		kong.Description("Structured Streaming on one machine, for Spark Connect clients."),
		kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)))
	k.FatalIfErrorf(k.Run())
}
