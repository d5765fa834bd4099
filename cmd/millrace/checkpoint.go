package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/checkup"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

type checkpointCmd struct {
	Show        showCmd        `cmd:"" help:"Show where a query stands: offsets, watermark, operators, rows of state."`
	Verify      verifyCmd      `cmd:"" help:"Read everything that a restart needs and list what is wrong."`
	Repair      repairCmd      `cmd:"" help:"Go back to the newest batch from which a query can go on."`
	Repartition repartitionCmd `cmd:"" help:"Ask for another number of partitions of the state, for the next start of the query."`
}

type showCmd struct {
	Dir string `arg:"" help:"Checkpoint." type:"existingdir"`
}

// Run prints what is in a checkpoint.
func (c *showCmd) Run(ctx context.Context) error {
	r, err := checkup.Verify(ctx, fs.Local(), c.Dir)
	if err != nil {
		return said(err)
	}
	return showReport(os.Stdout, r)
}

func showReport(out io.Writer, r *checkup.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	line("query", "%s", r.ID)
	how := "to be planned"
	if r.Planned {
		how = "planned, not finished"
	}
	line("next batch", "%d, %s", r.Next, how)
	line("watermark", "%s", time.UnixMilli(r.WatermarkMs).UTC().Format("2006-01-02T15:04:05.000Z"))
	for i, o := range r.Offsets {
		text := string(o)
		if o == nil {
			text = "-"
		}
		line(fmt.Sprintf("source %d", i), "%s", text)
	}
	if len(r.Operators) > 0 {
		line("state", "%s, %s partitions", r.Provider, r.Partitions)
	}
	for _, o := range r.Operators {
		size := fmt.Sprintf("%d rows", o.Rows)
		if o.Err != nil {
			size = "cannot be loaded"
		}
		line(fmt.Sprintf("operator %d", o.ID), "%s, %s", o.Name, size)
	}
	for _, f := range r.Findings {
		line("wrong", "%s", f)
	}
	return w.Flush()
}

type verifyCmd struct {
	Dir    string `arg:"" help:"Checkpoint." type:"existingdir"`
	Output string `help:"Folder of the file sink, whose log and files are looked at, too." type:"existingdir"`
}

// Run lists what is wrong with a checkpoint.
func (c *verifyCmd) Run(ctx context.Context) error {
	r, err := checkup.Verify(ctx, fs.Local(), c.Dir)
	if err != nil {
		return said(err)
	}
	if c.Output != "" {
		found, err := checkup.VerifyOutput(fs.Local(), c.Output)
		if err != nil {
			return said(err)
		}
		r.Findings = append(r.Findings, found...)
	}
	for _, f := range r.Findings {
		fmt.Println(f)
	}
	if n := len(r.Findings); n > 0 {
		return fmt.Errorf("%d findings; `millrace checkpoint repair --dry-run %s` says what can be done", n, c.Dir)
	}
	fmt.Printf("nothing is wrong; the next batch is %d\n", r.Next)
	return nil
}

type repairCmd struct {
	Dir       string `arg:"" help:"Checkpoint." type:"existingdir"`
	DryRun    bool   `help:"Say what would be done and do nothing."`
	Output    string `help:"Folder of the file sink, whose log goes back with the checkpoint." type:"existingdir"`
	RowsAgain bool   `help:"Let a sink that is no folder of files be given rows again."`
}

// Run repairs a checkpoint.
func (c *repairCmd) Run(ctx context.Context) error {
	steps, err := checkup.Repair(ctx, fs.Local(), c.Dir, checkup.Options{DryRun: c.DryRun, Output: c.Output, RowsAgain: c.RowsAgain})
	for _, s := range steps {
		fmt.Println(s)
	}
	if err == nil && len(steps) == 0 {
		fmt.Println("nothing is wrong")
	}
	return said(err)
}

type repartitionCmd struct {
	Dir        string `arg:"" help:"Checkpoint." type:"existingdir"`
	Partitions int    `help:"Number of partitions." required:""`
}

// Run asks for another number of partitions.
func (c *repartitionCmd) Run(ctx context.Context) error {
	if c.Partitions < 1 {
		return errors.New("--partitions must be at least 1")
	}
	ck, err := checkpoint.Open(ctx, fs.Local(), c.Dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return said(err)
	}
	ops, err := ck.OperatorIDs()
	if err != nil {
		return said(err)
	}
	if len(ops) == 0 {
		return fmt.Errorf("%s has no state", c.Dir)
	}
	if err := ck.RequestRepartition(ctx, c.Partitions); err != nil {
		return said(err)
	}
	fmt.Printf("the state of %d operators gets %d partitions when the query starts next\n", len(ops), c.Partitions)
	return nil
}

// said is an error as people read it.
func said(err error) error {
	if e, ok := errors.AsType[*errclass.Error](err); ok {
		return errors.New(e.Detail())
	}
	return err
}
