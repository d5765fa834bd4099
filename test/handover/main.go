package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine"
)

func main() {
	address := flag.String("spark", "", "Spark Connect server of an Apache Spark on this machine")
	record := flag.Bool("record", false, "write testdata instead of trying turns")
	run := flag.String("run", ".", "programs to run, a regular expression")
	keep := flag.String("dir", "", "folder for the runs, which is kept; a temporary one by default")
	flag.Parse()
	if err := start(context.Background(), *address, *run, *keep, *record); err != nil {
		fmt.Fprintln(os.Stderr, "handover:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, address, run, dir string, record bool) error {
	if address == "" {
		return errors.New("-spark is needed: start a server with `make oracle`")
	}
	chosen, err := regexp.Compile(run)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "millrace-handover-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	e := engines{}
	for letter, address := range map[byte]string{'S': address, 'M': "local[2]"} {
		s, err := millrace.Connect(ctx, address)
		if err != nil {
			return err
		}
		defer s.Close()
		if err := settings(ctx, s); err != nil {
			return err
		}
		e[letter] = s
	}
	var failed []error
	for i := range programs {
		p := &programs[i]
		if !chosen.MatchString(p.name) {
			continue
		}
		if record {
			err = e.record(ctx, p, filepath.Join(dir, p.name))
		} else {
			err = e.try(ctx, p, filepath.Join(dir, p.name))
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	if !chosen.MatchString("state") || record {
		return errors.Join(failed...)
	}
	return errors.Join(append(failed, e.state(ctx, filepath.Join(dir, "state")))...)
}

// turns are the orders in which the engines have their turn. With three files a run, there are 24 batches or more: beyond the second
// compaction of the logs.
var turns = []string{
	"SMSMSMSM",
	"MSMSMSMS",
	"SSSSMMMM",
	"MMMMSSSS",
	"ScMcSsMsSoMoSM",
	"MsScMcSoMoSsMS",
}

// try runs a program in all turns, and on each engine alone.
func (e engines) try(ctx context.Context, prog *program, dir string) error {
	var alone [2]string
	for i, letters := range []string{"SSSSSSSS", "MMMMMMMM"} {
		p := &place{dir: filepath.Join(dir, letters)}
		if err := e.play(ctx, prog, p, letters); err != nil {
			return err
		}
		if err := e.verify(ctx, prog, p); err != nil {
			return fmt.Errorf("%s: %w", letters, err)
		}
		var err error
		if alone[i], err = p.written(prog); err != nil {
			return err
		}
	}
	failed := difference(alone[0], alone[1])
	for _, letters := range turns {
		p := &place{dir: filepath.Join(dir, letters)}
		err := e.play(ctx, prog, p, letters)
		if err == nil {
			err = e.verify(ctx, prog, p)
		}
		var text string
		if err == nil {
			text, err = p.written(prog)
		}
		if err == nil && !hasCrash(letters) {
			err = difference(alone[0], text)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", letters, err))
			continue
		}
		fmt.Printf("%-10s  %-17s  %d files, every row once\n", prog.name, letters, p.files)
	}
	return failed
}

func hasCrash(turns string) bool {
	for _, c := range turns {
		if c >= 'a' {
			return true
		}
	}
	return false
}

// record writes the testdata of a program.
func (e engines) record(ctx context.Context, prog *program, dir string) error {
	one := &place{dir: filepath.Join(dir, "spark")}
	if err := e.play(ctx, prog, one, "SSSS"); err != nil {
		return err
	}
	// Here the program stands when it is to be continued.
	if err := pack(one.dir, archive(prog.name)); err != nil {
		return err
	}
	if err := e.play(ctx, prog, one, "SSSS"); err != nil {
		return err
	}
	text, err := one.written(prog)
	if err != nil {
		return err
	}
	if err := os.WriteFile(recorded(prog.name), []byte(text), 0o644); err != nil {
		return err
	}
	both := &place{dir: filepath.Join(dir, "turns")}
	if err := e.play(ctx, prog, both, "MMScMoMS"); err != nil {
		return err
	}
	return pack(both.dir, archive(prog.name+".turns"))
}

func archive(name string) string { return filepath.Join("test", "handover", "testdata", name+".zip") }

func recorded(name string) string { return filepath.Join("test", "handover", "testdata", name+".txt") }
