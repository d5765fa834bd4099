package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/millrace/millrace"
)

// recorded is a line of a file of answers: a statement that comes before the questions, or a question with what Spark said.
type recorded struct {
	Setup  string   `json:"setup,omitempty"`
	Query  string   `json:"query,omitempty"`
	Schema string   `json:"schema,omitempty"`
	Rows   []string `json:"rows,omitempty"`
	Class  string   `json:"class,omitempty"` // condition and SQLSTATE
	// Params are those of the error that are no prose, and Place is where it is. Older files go without.
	Params map[string]string `json:"params,omitempty"`
	Place  string            `json:"place,omitempty"`
}

func (a answer) recorded(query string) recorded {
	if a.err != nil {
		r := recorded{Query: query, Class: a.class, Place: a.place}
		if e, ok := errors.AsType[*millrace.Error](a.err); ok {
			r.Params = maps.Clone(e.Params)
			maps.DeleteFunc(r.Params, func(k, _ string) bool { return prose[k] || k == "docroot" })
		}
		return r
	}
	return recorded{Query: query, Schema: a.schema, Rows: texts(a.rows)}
}

// questionsOf reads questions, one a line; lines that begin with -- are comments.
func questionsOf(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			out = append(out, line)
		}
	}
	return out, nil
}

// tables are the two of a seed that questions in files are about.
func tables(seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 0))
	return []string{view(r, "t", 12), view(r, "u", 9)}
}

// askFile asks what is written in a file about the tables of the seed.
func (p *pair) askFile(ctx context.Context, o options) error {
	questions, err := questionsOf(o.file)
	if err != nil {
		return err
	}
	if err := p.prepare(ctx, "true", tables(o.seed)...); err != nil {
		return err
	}
	for _, query := range questions {
		if !o.only.MatchString(query) {
			continue
		}
		diff, err := p.ask(ctx, query)
		if err != nil {
			return err
		}
		if diff == "" {
			if ours := ask(ctx, p.ours, query); ours.err != nil {
				diff = parameters(ours.err, ask(ctx, p.spark, query).err)
			}
		}
		if diff != "" {
			p.found[query]++
			fmt.Printf("%s\n    %s\n\n", query, diff)
		}
	}
	fmt.Fprintf(os.Stderr, "%d questions, %d of them refused by both, %d differences\n", p.asked, p.errors, len(p.found))
	return nil
}

// record writes what Spark says to the questions of a file into a file of answers.
func record(ctx context.Context, spark *millrace.Session, o options) error {
	questions, err := questionsOf(o.file)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	for _, t := range tables(o.seed) {
		if _, err := spark.SQL(ctx, t); err != nil {
			return err
		}
		if err := lines.Encode(recorded{Setup: t}); err != nil {
			return err
		}
	}
	for _, query := range questions {
		a := ask(ctx, spark, query)
		if a.class == noCondition {
			return fmt.Errorf("%s: %w", query, a.err)
		}
		if err := lines.Encode(a.recorded(query)); err != nil {
			return err
		}
	}
	return os.WriteFile(o.record, out.Bytes(), 0o644)
}
