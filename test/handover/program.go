package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace"
)

// program is a query without state and what it must give.
type program struct {
	name string
	// inputs are folders below in/ to which files come.
	inputs []string
	query  func(s *millrace.Session, in string) *millrace.DataFrame
	// format and partitions are the sink's.
	format     string
	partitions []string
	// numbers is set for rows that come from a clock or a counter: their field id must be 0, 1, 2, … without a gap. Otherwise every
	// line of the input must be there once.
	numbers bool
	// untimed is set when offsets say how long the query has run.
	untimed bool
}

const schema = "id LONG, k STRING"

func files(s *millrace.Session, path string, perBatch int) *millrace.DataFrame {
	return s.ReadStream().SchemaDDL(schema).Option("maxFilesPerTrigger", strconv.Itoa(perBatch)).JSON(path)
}

var programs = []program{
	{
		name: "parquet", inputs: []string{"a"}, format: "parquet",
		query: func(s *millrace.Session, in string) *millrace.DataFrame { return files(s, filepath.Join(in, "a"), 1) },
	},
	{
		name: "partitions", inputs: []string{"a b"}, format: "json", partitions: []string{"k"},
		query: func(s *millrace.Session, in string) *millrace.DataFrame {
			return files(s, filepath.Join(in, "a b"), 1).Where("id >= 0").SelectExpr("id", "concat(k, ' %=') AS k")
		},
	},
	{
		name: "sources", inputs: []string{"a", "b"}, format: "json",
		query: func(s *millrace.Session, in string) *millrace.DataFrame {
			return files(s, filepath.Join(in, "a"), 1).Union(files(s, filepath.Join(in, "b"), 2))
		},
	},
	{
		name: "csv", inputs: []string{"t"}, format: "csv",
		query: func(s *millrace.Session, in string) *millrace.DataFrame {
			return s.ReadStream().Format("text").Option("maxFilesPerTrigger", "1").Load(filepath.Join(in, "t")).
				SelectExpr("get_json_object(value, '$.id') AS id", "get_json_object(value, '$.k') AS k")
		},
	},
	{
		name: "micro", format: "json", numbers: true,
		query: func(s *millrace.Session, _ string) *millrace.DataFrame {
			return s.ReadStream().Format("rate-micro-batch").Option("rowsPerBatch", "3").Option("startTimestamp", "1000").
				Option("advanceMillisPerBatch", "50").Load().SelectExpr("value AS id", "'m' AS k")
		},
	},
	{
		name: "rate", format: "parquet", numbers: true, untimed: true,
		query: func(s *millrace.Session, _ string) *millrace.DataFrame {
			return s.ReadStream().Format("rate").Option("rowsPerSecond", "3").Load().SelectExpr("value AS id", "'r' AS k")
		},
	},
	{
		name: "mixed", inputs: []string{"a"}, format: "json", untimed: true,
		query: func(s *millrace.Session, in string) *millrace.DataFrame {
			rate := s.ReadStream().Format("rate").Option("rowsPerSecond", "1").Load().SelectExpr("-1L AS id", "'r' AS k").Where("id >= 0")
			return rate.Union(files(s, filepath.Join(in, "a"), 1))
		},
	},
}

// check compares the rows of the output with what went in.
func (p *program) check(fed []int64, got []int64) error {
	slices.Sort(got)
	want := slices.Clone(fed)
	if p.numbers {
		want = want[:0]
		for i := range got {
			want = append(want, int64(i))
		}
		if len(got) == 0 {
			return fmt.Errorf("the output is empty")
		}
	}
	slices.Sort(want)
	if slices.Equal(want, got) {
		return nil
	}
	var lost, doubled []string
	count := map[int64]int{}
	for _, id := range got {
		count[id]++
	}
	for _, id := range want {
		if count[id] == 0 {
			lost = append(lost, strconv.FormatInt(id, 10))
		}
	}
	for id, n := range count {
		if n > 1 {
			doubled = append(doubled, strconv.FormatInt(id, 10))
		}
	}
	return fmt.Errorf("%d rows came out and %d should have; lost: %s; twice: %s", len(got), len(want), strings.Join(lost, " "), strings.Join(doubled, " "))
}
