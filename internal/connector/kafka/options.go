package kafka

import (
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/connector/kafka/client"
	"github.com/millrace/millrace/internal/connector/kafka/offsets"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
)

// Options of the source.
const (
	optBootstrap     = "kafka.bootstrap.servers"
	optSubscribe     = "subscribe"
	optPattern       = "subscribePattern"
	optAssign        = "assign"
	optStart         = "startingOffsets"
	optStartTime     = "startingTimestamp"
	optStartTimes    = "startingOffsetsByTimestamp"
	optNoMatch       = "startingOffsetsByTimestampStrategy"
	optEnd           = "endingOffsets"
	optEndTime       = "endingTimestamp"
	optEndTimes      = "endingOffsetsByTimestamp"
	optFail          = "failOnDataLoss"
	optMax           = "maxOffsetsPerTrigger"
	optMin           = "minOffsetsPerTrigger"
	optDelay         = "maxTriggerDelay"
	optMinPartitions = "minPartitions"
	optMaxRecords    = "maxRecordsPerPartition"
	optGroupPrefix   = "groupIdPrefix"
	optHeaders       = "includeHeaders"
	optPollTimeout   = "kafkaConsumer.pollTimeoutMs"
	optRetries       = "fetchOffset.numRetries"
	optRetryInterval = "fetchOffset.retryIntervalMs"
	// optCommit is beyond Spark: the consumer group that is told how far the query has got.
	optCommit = "commitOffsetsToGroup"
)

// sourceRefuses are settings that the source keeps to itself, with the reason.
var sourceRefuses = []struct{ name, reason string }{
	{"auto.offset.reset", "use startingOffsets to say where to begin."},
	{"key.deserializer", "keys are read as binary; convert the column key in the query."},
	{"value.deserializer", "values are read as binary; convert the column value in the query."},
	{"enable.auto.commit", "the query's checkpoint keeps the offsets, none are committed by the client."},
	{"interceptor.classes", "Java classes cannot be loaded, and the source must see what is in the topic."},
}

func missing(option string) error {
	return errclass.New("KAFKA_INVALID_OPTION.MISSING", "option", option)
}

func badValue(option, value, requirement string) *errclass.Error {
	return errclass.New("KAFKA_INVALID_OPTION.VALUE", "option", option, "value", value, "requirement", requirement)
}

// givenChoice finds the one option that says what to read.
func givenChoice(o source.Options) (name, value string, err error) {
	var names []string
	for _, n := range []string{optSubscribe, optPattern, optAssign} {
		if v, ok := o.Get(n); ok {
			names, name, value = append(names, n), n, v
		}
	}
	if len(names) != 1 {
		given := "none"
		if len(names) > 0 {
			given = strings.Join(names, " and ")
		}
		return "", "", errclass.New("KAFKA_INVALID_OPTION.SUBSCRIPTION", "given", given)
	}
	return name, value, nil
}

// checkGeneral is what Spark checks of every read while the plan is analysed.
func checkGeneral(o source.Options) error {
	name, value, err := givenChoice(o)
	if err != nil {
		return err
	}
	switch name {
	case optSubscribe:
		if len(topicList(value)) == 0 {
			return badValue(name, value, "it lists no topic.")
		}
	case optPattern:
		if strings.TrimSpace(value) == "" {
			return badValue(name, value, "it must be a regular expression over names of topics.")
		}
	case optAssign:
		if !strings.HasPrefix(strings.TrimSpace(value), "{") {
			return badValue(name, value, `it must list partitions as JSON, as in {"topic":[0,1]}.`)
		}
	}
	for _, n := range []string{optMinPartitions, optMaxRecords} {
		v, ok := o.Get(n)
		if !ok {
			continue
		}
		parts, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil || n == optMinPartitions && parts != int64(int32(parts)) {
			return errclass.New("KAFKA_INVALID_OPTION.NOT_A_NUMBER", "option", n, "value", v)
		}
		if parts <= 0 {
			return badValue(n, v, "it must be positive.")
		}
	}
	settings := client.Cut(o)
	for _, r := range sourceRefuses {
		if _, ok := settings[r.name]; ok {
			return errclass.New("KAFKA_INVALID_OPTION.UNSUPPORTED", "option", client.Prefix+r.name, "reason", r.reason)
		}
	}
	if _, ok := settings["bootstrap.servers"]; !ok {
		return missing(optBootstrap)
	}
	return checkRates(o)
}

// checkRates compares the bounds of a batch. A batch read does not go by them, and checks them all the same.
func checkRates(o source.Options) error {
	least, hasLeast := o.Get(optMin)
	most, hasMost := o.Get(optMax)
	if !hasLeast || !hasMost {
		return nil
	}
	l, err := number(optMin, least)
	if err != nil {
		return err
	}
	m, err := number(optMax, most)
	if err != nil {
		return err
	}
	if l > m {
		return badValue(optMin, least, "it must not be more than "+optMax+".")
	}
	return nil
}

// checkStream is what Spark checks of a stream while the plan is analysed; the rest is found out when the query runs.
func checkStream(o source.Options) error {
	for _, n := range []string{optEnd, optEndTimes} {
		if v, ok := o.Get(n); ok {
			return badValue(n, v, "a stream has no end; leave it away.")
		}
	}
	return checkGeneral(o)
}

// number reads a whole number.
func number(option, value string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return 0, errclass.New("KAFKA_INVALID_OPTION.NOT_A_NUMBER", "option", option, "value", value)
	}
	return n, nil
}

func yesOrNo(o source.Options, option string, otherwise bool) (bool, error) {
	v, ok := o.Get(option)
	if !ok {
		return otherwise, nil
	}
	switch strings.ToLower(v) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, badValue(option, v, "it must be true or false.")
}

// topicList reads names with commas between them.
func topicList(value string) []string {
	var out []string
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// bound says where a read begins or ends. The first of its fields that is set counts.
type bound struct {
	// at is a time in ms for all partitions.
	at *int64
	// times are one for each.
	times offsets.Map
	// specific are offsets for each, or -1 and -2 for the ends.
	specific offsets.Map
	// end is offsets.Latest or offsets.Earliest.
	end int64
	// option is the one that was given.
	option string
}

// readBound reads the three options for one end of a read.
func readBound(o source.Options, at, times, plain string, otherwise int64) (bound, error) {
	if v, ok := o.Get(at); ok {
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			return bound{}, badValue(at, v, "it must be a time in milliseconds since 1970.")
		}
		return bound{at: &n, option: at}, nil
	}
	if v, ok := o.Get(times); ok {
		m, err := offsets.Parse([]byte(v))
		if err != nil {
			return bound{}, badValue(times, v, `it must be JSON such as {"topic":{"0":1767261600000}}: `+err.Error()+".")
		}
		return bound{times: m, option: times}, nil
	}
	v, ok := o.Get(plain)
	if !ok {
		return bound{end: otherwise, option: plain}, nil
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "latest":
		return bound{end: offsets.Latest, option: plain}, nil
	case "earliest":
		return bound{end: offsets.Earliest, option: plain}, nil
	}
	m, err := offsets.Parse([]byte(v))
	if err != nil {
		return bound{}, badValue(plain, v, `it must be earliest, latest or JSON such as {"topic":{"0":23,"1":-2}}: `+err.Error()+".")
	}
	return bound{specific: m, option: plain}, nil
}

// settled are options whose mistakes a batch reports while it is analysed, a stream when it runs.
type settled struct {
	choice   choice
	start    bound
	end      bound
	noMatch  string // error or latest
	fail     bool
	most     int64 // -1 for no limit
	hasMost  bool
	least    int64
	hasLeast bool
	delay    time.Duration

	minPartitions int64
	maxRecords    int64
	pollTimeout   time.Duration
	retries       int
	retryInterval time.Duration
	settings      client.Settings
	groupPrefix   string
	commitTo      string
	// late is a mistake that a batch read, too, reports when it runs.
	late error
}

// settle reads the options.
func settle(o source.Options, stream bool) (*settled, error) {
	s := &settled{settings: client.Cut(o), noMatch: "error"}
	var err error
	if s.choice, err = readChoice(o); err != nil {
		return nil, err
	}
	first := offsets.Earliest
	if stream {
		first = offsets.Latest
	}
	if s.start, err = readBound(o, optStartTime, optStartTimes, optStart, first); err != nil {
		return nil, err
	}
	if !stream {
		if s.end, err = readBound(o, optEndTime, optEndTimes, optEnd, offsets.Latest); err != nil {
			return nil, err
		}
	}
	if v, ok := o.Get(optNoMatch); ok {
		if s.noMatch = strings.ToLower(strings.TrimSpace(v)); s.noMatch != "error" && s.noMatch != "latest" {
			return nil, badValue(optNoMatch, v, "it must be error or latest.").WithKind(errclass.Other)
		}
	}
	if s.fail, err = yesOrNo(o, optFail, true); err != nil {
		return nil, err
	}
	s.minPartitions, s.maxRecords = optional(o, optMinPartitions), optional(o, optMaxRecords)
	if stream {
		if err := s.settleRates(o); err != nil {
			return nil, err
		}
	}
	ms, err := numberOr(o, optPollTimeout, 120_000)
	if err != nil {
		return nil, err
	}
	s.pollTimeout = time.Duration(ms) * time.Millisecond
	tries, err := numberOr(o, optRetries, 3)
	if err == nil && tries < 0 {
		err = badValue(optRetries, strconv.FormatInt(tries, 10), "it must not be negative.").WithKind(errclass.SparkFailure)
	}
	s.retries = int(max(1, min(tries, 1<<20)))
	ms, ierr := numberOr(o, optRetryInterval, 1000)
	s.retryInterval = time.Duration(max(0, ms)) * time.Millisecond
	if s.late = err; s.late == nil {
		s.late = ierr
	}
	s.groupPrefix = "spark-kafka-relation"
	if stream {
		s.groupPrefix = "spark-kafka-source"
	}
	if v, ok := o.Get(optGroupPrefix); ok {
		s.groupPrefix = v
	}
	s.commitTo, _ = o.Get(optCommit)
	return s, nil
}

func (s *settled) settleRates(o source.Options) (err error) {
	if v, ok := o.Get(optMax); ok {
		if s.most, err = number(optMax, v); err != nil {
			return err
		}
		if s.hasMost = true; s.most < 0 {
			return badValue(optMax, v, "it must not be negative.")
		}
	}
	if v, ok := o.Get(optMin); ok {
		if s.least, err = number(optMin, v); err != nil {
			return err
		}
		s.hasLeast = true
	}
	s.delay = 15 * time.Minute
	if v, ok := o.Get(optDelay); ok {
		var ok bool
		if s.delay, ok = amount.Time(v, time.Millisecond); !ok {
			return badValue(optDelay, v, "it must be a time such as 15m.")
		}
	}
	return nil
}

// optional reads a number that checkGeneral has let pass, or 0.
func optional(o source.Options, option string) int64 {
	v, _ := o.Get(option)
	n, _ := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	return n
}

func numberOr(o source.Options, option string, otherwise int64) (int64, error) {
	v, ok := o.Get(option)
	if !ok {
		return otherwise, nil
	}
	return number(option, v)
}
