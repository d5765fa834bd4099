package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/show"
)

type sqlCmd struct {
	Execute   []string          `help:"Statements to run, separated by semicolons." short:"e" sep:"none"`
	File      string            `arg:"" optional:"" help:"File with statements; - or nothing reads standard input."`
	Rows      int               `help:"How many rows of a result are shown." default:"1000"`
	Conf      map[string]string `help:"Settings (key=value)." short:"c" mapsep:"none"`
	Warehouse string            `help:"Directory of tables." default:"spark-warehouse"`
}

// Run runs statements and prints their results.
func (c *sqlCmd) Run(ctx context.Context) error {
	registerConnectors()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	rt := engine.New(engine.Runtime{Log: log, Warehouse: c.Warehouse})
	s := session.NewServer(rt, c.Conf).New("", uuid.NewString())
	if len(c.Execute) > 0 {
		return c.all(ctx, s, strings.Join(c.Execute, ";\n"))
	}
	if c.File != "" && c.File != "-" {
		text, err := os.ReadFile(c.File)
		if err != nil {
			return err
		}
		return c.all(ctx, s, string(text))
	}
	if isTerminal(os.Stdin) {
		return c.interactive(ctx, s)
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	return c.all(ctx, s, string(text))
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// all runs statements until one fails.
func (c *sqlCmd) all(ctx context.Context, s *session.Session, text string) error {
	for _, st := range statements(text) {
		if err := c.one(ctx, s, st); err != nil {
			return err
		}
	}
	return nil
}

// one runs a statement and prints its rows. Statements without columns print nothing.
func (c *sqlCmd) one(ctx context.Context, s *session.Session, text string) error {
	r, err := s.SQL(ctx, text, nil, nil)
	if err == nil {
		err = c.print(ctx, s, r)
	}
	if e, ok := errors.AsType[*errclass.Error](err); ok {
		return errors.New(e.Detail())
	}
	return err
}

func (c *sqlCmd) print(ctx context.Context, s *session.Session, r session.SQLResult) error {
	if l, ok := r.Plan.(*plan.Local); ok && len(l.Out) == 0 {
		return nil
	}
	text, err := s.Show(ctx, r.Plan, show.Options{Rows: c.Rows}, false)
	if err != nil {
		return err
	}
	_, err = fmt.Print(text)
	return err
}

// interactive reads statements from a terminal, each ended by a semicolon. A mistake does not end it.
func (c *sqlCmd) interactive(ctx context.Context, s *session.Session) error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	var text strings.Builder
	for prompt := "sql> "; ; prompt = "  -> " {
		if text.Len() == 0 {
			prompt = "sql> "
		}
		fmt.Print(prompt)
		if !in.Scan() || ctx.Err() != nil {
			fmt.Println()
			return in.Err()
		}
		line := strings.TrimSpace(in.Text())
		if text.Len() == 0 && (line == "exit" || line == "quit") {
			return nil
		}
		text.WriteString(in.Text() + "\n")
		if !strings.HasSuffix(line, ";") {
			continue
		}
		for _, st := range statements(text.String()) {
			if err := c.one(ctx, s, st); err != nil {
				fmt.Fprintln(os.Stderr, err)
				break
			}
		}
		text.Reset()
	}
}

// statements cuts a text at the semicolons that stand outside quotes and comments.
func statements(text string) []string {
	var out []string
	start := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ';':
			add(i)
			start = i + 1
		case c == '\'' || c == '"' || c == '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
		case strings.HasPrefix(text[i:], "--"):
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(text)
			}
		case strings.HasPrefix(text[i:], "/*"):
			if n := strings.Index(text[i:], "*/"); n >= 0 {
				i += n + 1
			} else {
				i = len(text)
			}
		}
	}
	add(len(text))
	return out
}
