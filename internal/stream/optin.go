package stream

import (
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/sink"
)

// What Spark does not have is off unless a query asks for it: see docs/beyond-spark.md.

// Options of the writer.
const (
	optIdleTimeout = "watermarkIdleTimeout"
	optPerInput    = "watermarkPerInput"
	optFinalFlush  = "finalFlush"
	optRepartition = "stateRepartition"
	// Folders for rows that leave the query beside its result.
	optLateRowsPath   = "lateRowsPath"
	optLateRowsFormat = "lateRowsFormat"
	optDeadPath       = "deadLetterPath"
	optDeadFormat     = "deadLetterFormat"
	optDeadMax        = "deadLetterMax"
	optAllowAdded     = "stateAllowAddedAggregates"
)

// optIn is what a query asks for beyond Spark. The zero value is Spark.
type optIn struct {
	// idleTimeout is how long an input may deliver nothing before its watermark counts no longer; 0 is for ever.
	idleTimeout time.Duration
	// perInput is set when the checkpoint keeps the watermark of every input.
	perInput bool
	// finalFlush is set when the end of a run with availableNow closes whatever waits for the watermark.
	finalFlush bool
	// repartition is set when a restart may change the number of partitions of the state.
	repartition bool
	// latePath is the folder for rows that are dropped for being late, or "".
	latePath, lateFormat string
	// deadPath is the folder for rows that cannot be computed with, or ""; a batch has at most deadMax.
	deadPath, deadFormat string
	deadMax              int
	// allowAdded is set when a restart may add aggregates to those of the state, or take some away.
	allowAdded bool
}

// asked reads what a query asks for.
func asked(options sink.Options, conf Conf, t TriggerKind) (o optIn, err error) {
	a := asker{options, conf}
	if o.idleTimeout, err = a.duration(optIdleTimeout, keyIdleTimeout); err != nil {
		return o, err
	}
	if o.perInput, err = a.bool(optPerInput, keyPerInput); err != nil {
		return o, err
	}
	if o.repartition, err = a.bool(optRepartition, keyRepartition); err != nil {
		return o, err
	}
	if o.allowAdded, err = a.bool(optAllowAdded, keyAllowAdded); err != nil {
		return o, err
	}
	if o.finalFlush, err = a.bool(optFinalFlush, ""); err != nil {
		return o, err
	}
	if o.finalFlush && t != AvailableNow {
		return o, badOption(optFinalFlush, "true", "only a query with the trigger availableNow comes to an end of its input.")
	}
	o.latePath, _ = a.find(optLateRowsPath, "")
	format, _ := a.find(optLateRowsFormat, "")
	if o.lateFormat, err = checkSideFormat(optLateRowsFormat, format); err != nil {
		return o, err
	}
	o.deadPath, _ = a.find(optDeadPath, "")
	format, _ = a.find(optDeadFormat, "")
	if o.deadFormat, err = checkSideFormat(optDeadFormat, format); err != nil {
		return o, err
	}
	o.deadMax = defaultDeadLetterMax
	if most, _ := a.find(optDeadMax, ""); most != "" {
		if o.deadMax, err = strconv.Atoi(most); err != nil || o.deadMax < 0 {
			return o, badOption(optDeadMax, most, "it must be a number of rows.")
		}
	}
	return o, nil
}

// asker looks an option of the writer up, or else a setting of the session.
type asker struct {
	options sink.Options
	conf    Conf
}

// find returns the value and the name under which it was given.
func (a asker) find(option, key string) (value, name string) {
	if v, ok := a.options.Get(option); ok {
		return strings.TrimSpace(v), option
	}
	if key == "" {
		return "", option
	}
	return strings.TrimSpace(a.conf.Value(key)), key
}

func (a asker) bool(option, key string) (bool, error) {
	v, name := a.find(option, key)
	switch strings.ToLower(v) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, badOption(name, v, "it must be true or false.")
}

func (a asker) duration(option, key string) (time.Duration, error) {
	v, name := a.find(option, key)
	if v == "" || v == "0" {
		return 0, nil
	}
	ms, err := interval.ParseTrigger(v)
	if err != nil {
		return 0, badOption(name, v, "it must be a time such as '10 minutes'; 0 is off.")
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func badOption(name, value, requirement string) error {
	return errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", name, "value", "'"+value+"'", "requirement", requirement)
}
