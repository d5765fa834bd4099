package statestore

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
)

// options are what a reader asks for.
type options struct {
	dir       string // of the checkpoint
	operator  int64
	batch     int64 // -1: the last one committed
	storeName string
	side      string // left, right, or nothing

	// Of a stateful processor: a state variable, or its timers; a row for each element of lists and maps.
	variable        string
	timers, flatten bool

	// Of a change feed.
	feed       bool
	start, end int64 // end -1: the last one committed

	// Of a look at one partition: the state as from the snapshot of a batch.
	snapshot, partition int64 // -1: none
}

const defaultStore = "default"

// location finds the checkpoint of a request.
func location(req source.Request) (string, error) {
	path := ""
	if len(req.Paths) > 0 {
		path = req.Paths[0]
	} else if p, ok := req.Options.Get("path"); ok {
		path = p
	}
	if path == "" {
		return "", errclass.New("STDS_REQUIRED_OPTION_UNSPECIFIED", "optionName", "path")
	}
	p, err := fs.ParseLocation(path)
	if err == nil {
		p, err = filepath.Abs(p)
	}
	if err != nil {
		return "", errclass.New("STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", "optionName", "path", "message", err.Error()).WithCause(err)
	}
	return p, nil
}

func parseOptions(req source.Request) (o options, err error) {
	if o.dir, err = location(req); err != nil {
		return o, err
	}
	p := parser{req.Options, nil}
	o.operator = p.number("operatorId", 0)
	o.batch = p.number("batchId", -1)
	o.storeName = p.text("storeName", defaultStore)
	o.side = p.text("joinSide", "none")
	o.feed = p.flag("readChangeFeed", false)
	o.start, o.end = p.number("changeStartBatchId", -1), p.number("changeEndBatchId", -1)
	o.snapshot, o.partition = p.number("snapshotStartBatchId", -1), p.number("snapshotPartitionId", -1)
	o.variable, o.timers, o.flatten = p.text("stateVarName", ""), p.flag("readRegisteredTimers", false), p.flag("flattenCollectionTypes", true)
	if p.err != nil {
		return o, p.err
	}
	switch o.side {
	case "left", "right":
	case "none":
		o.side = ""
	default:
		return o, invalid("joinSide", "it is none of left, right and none")
	}
	given := func(name string) bool { _, ok := req.Options.Get(name); return ok }
	switch {
	case o.side != "" && o.storeName != defaultStore:
		return o, conflict("joinSide", "storeName")
	case o.variable != "" && o.timers:
		return o, conflict("readRegisteredTimers", "stateVarName")
	case o.variable != "" && o.storeName != defaultStore:
		return o, conflict("stateVarName", "storeName")
	case o.variable != "" && o.side != "":
		return o, conflict("stateVarName", "joinSide")
	}
	if o.feed {
		return o, o.checkFeed(given)
	}
	switch {
	case given("changeStartBatchId"):
		return o, invalid("changeStartBatchId", "it needs readChangeFeed to be true")
	case given("changeEndBatchId"):
		return o, invalid("changeEndBatchId", "it needs readChangeFeed to be true")
	case o.snapshot >= 0 && o.partition < 0:
		return o, missing("snapshotPartitionId")
	case o.snapshot < 0 && o.partition >= 0:
		return o, missing("snapshotStartBatchId")
	}
	return o, nil
}

func (o options) checkFeed(given func(string) bool) error {
	switch {
	case o.side != "":
		return conflict("joinSide", "readChangeFeed")
	case given("batchId"):
		return conflict("batchId", "readChangeFeed")
	case given("snapshotStartBatchId"):
		return conflict("snapshotStartBatchId", "readChangeFeed")
	case given("snapshotPartitionId"):
		return conflict("snapshotPartitionId", "readChangeFeed")
	case o.start < 0:
		return missing("changeStartBatchId")
	}
	return nil
}

func invalid(name, message string) error {
	return errclass.New("STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", "optionName", name, "message", message)
}

func missing(name string) error {
	return errclass.New("STDS_REQUIRED_OPTION_UNSPECIFIED", "optionName", name)
}

func conflict(names ...string) error {
	return errclass.New("STDS_CONFLICT_OPTIONS", "options", "['"+strings.Join(names, "', '")+"']")
}

// parser reads options and keeps the first mistake.
type parser struct {
	options source.Options
	err     error
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// number reads a number that must not be negative; without the option it is absent.
func (p *parser) number(name string, absent int64) int64 {
	text, ok := p.options.Get(name)
	if !ok {
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail(invalid(name, fmt.Sprintf("%q is not a number", text)))
	} else if n < 0 {
		p.fail(errclass.New("STDS_INVALID_OPTION_VALUE.IS_NEGATIVE", "optionName", name))
	}
	return n
}

func (p *parser) text(name, absent string) string {
	text, ok := p.options.Get(name)
	if !ok {
		return absent
	}
	if text == "" {
		p.fail(errclass.New("STDS_INVALID_OPTION_VALUE.IS_EMPTY", "optionName", name))
	}
	return text
}

func (p *parser) flag(name string, absent bool) bool {
	text, ok := p.options.Get(name)
	if !ok {
		return absent
	}
	v, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		p.fail(invalid(name, fmt.Sprintf("%q is neither true nor false", text)))
	}
	return v
}
