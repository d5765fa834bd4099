package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// printed is a difference as report prints it: a query, or an expression when the settings tell a zone.
var printed = regexp.MustCompile(`(?m)^seed (\d+), ansi (?:true|false)(, \S+)?: (.*)$`)

// askAgain asks what an earlier run has printed, about the same tables.
func (p *pair) askAgain(ctx context.Context, o options) error {
	text, err := os.ReadFile(o.again)
	if err != nil {
		return err
	}
	made, settings := "", ""
	for _, m := range printed.FindAllStringSubmatch(string(text), -1) {
		seed, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %w", m[0], err)
		}
		if !o.only.MatchString(m[3]) {
			continue
		}
		query, single := m[3], m[2] != ""
		if tables := fmt.Sprint(seed, single); tables != made {
			if single {
				_, settings, err = p.forScalars(ctx, seed)
			} else {
				_, settings, err = p.forQueries(ctx, seed)
			}
			if err != nil {
				return err
			}
			made = tables
		}
		var diff string
		if single {
			diffs, err := p.askColumns(ctx, []string{query})
			if err != nil {
				return err
			}
			if diff = diffs[0]; diff != "" {
				if diff, err = p.byRow(ctx, query, diff); err != nil {
					return err
				}
				if diff == "" {
					p.explained++
				}
			}
		} else if diff, err = p.ask(ctx, query); err != nil {
			return err
		}
		if diff != "" {
			p.report(seed, settings, strings.TrimSpace(query), diff)
		}
	}
	fmt.Fprintf(os.Stderr, "%d questions, %d of them refused by both, %d differences, %d known\n", p.asked, p.errors, len(p.found), p.explained)
	return nil
}
