package delta

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/interval"
)

// The table properties with a meaning.
const (
	propAppendOnly          = "delta.appendOnly"
	propCDF                 = "delta.enableChangeDataFeed"
	propMapping             = "delta.columnMapping.mode"
	propMaxColumnID         = "delta.columnMapping.maxColumnId"
	propVectors             = "delta.enableDeletionVectors"
	propRowTracking         = "delta.enableRowTracking"
	propInCommitTime        = "delta.enableInCommitTimestamps"
	propCheckpointPolicy    = "delta.checkpointPolicy"
	propTypeWidening        = "delta.enableTypeWidening"
	propCheckpointInterval  = "delta.checkpointInterval"
	propDeletedRetention    = "delta.deletedFileRetentionDuration"
	propLogRetention        = "delta.logRetentionDuration"
	propExpiredCleanup      = "delta.enableExpiredLogCleanup"
	propStatsColumns        = "delta.dataSkippingNumIndexedCols"
	propIsolation           = "delta.isolationLevel"
	propMinReader           = "delta.minReaderVersion"
	propMinWriter           = "delta.minWriterVersion"
	propFeature             = "delta.feature."
	propCheck               = "delta.constraints."
	propIgnoreProtocol      = "delta.ignoreProtocolDefaults"
	propStatsColumnsByName  = "delta.dataSkippingStatsColumns"
	propRandomizePrefixes   = "delta.randomizeFilePrefixes"
	propRandomPrefixLength  = "delta.randomPrefixLength"
	propSetTxnRetention     = "delta.setTransactionRetentionDuration"
	propSampleRetention     = "delta.sampleRetentionDuration"
	propAutoOptimize        = "delta.autoOptimize"
	propCompatibility       = "delta.compatibility.symlinkFormatManifest.enabled"
	propStatsJSON           = "delta.checkpoint.writeStatsAsJson"
	propStatsStruct         = "delta.checkpoint.writeStatsAsStruct"
	propOptimizeWrite       = "delta.autoOptimize.optimizeWrite"
	propAutoCompact         = "delta.autoOptimize.autoCompact"
	propTargetFileSize      = "delta.targetFileSize"
	propTuneForRewrites     = "delta.tuneFileSizesForRewrites"
	propMaterializedRowID   = "delta.rowTracking.materializedRowIdColumnName"
	propMaterializedVersion = "delta.rowTracking.materializedRowCommitVersionColumnName"
	propInCommitSince       = "delta.inCommitTimestampEnablementVersion"
	propInCommitSinceTime   = "delta.inCommitTimestampEnablementTimestamp"
)

// known are the properties below "delta." that can be set, in lower case with their spelling.
var known = func() map[string]string {
	m := map[string]string{}
	for _, k := range []string{
		propAppendOnly, propCDF, propMapping, propMaxColumnID, propVectors, propRowTracking, propInCommitTime, propCheckpointPolicy, propTypeWidening,
		propCheckpointInterval, propDeletedRetention, propLogRetention, propExpiredCleanup, propStatsColumns, propIsolation, propMinReader,
		propMinWriter, propIgnoreProtocol, propStatsColumnsByName, propRandomizePrefixes, propRandomPrefixLength, propSetTxnRetention,
		propSampleRetention, propAutoOptimize, propCompatibility, propStatsJSON, propStatsStruct, propOptimizeWrite, propAutoCompact,
		propTargetFileSize, propTuneForRewrites, propMaterializedRowID, propMaterializedVersion, propInCommitSince, propInCommitSinceTime,
	} {
		m[strings.ToLower(k)] = k
	}
	return m
}()

var flags = map[string]bool{
	propAppendOnly: true, propCDF: true, propVectors: true, propRowTracking: true, propInCommitTime: true, propTypeWidening: true,
	propExpiredCleanup: true,
}

// Properties checks the properties that a table is to have and splits off what they say of the protocol. Names are taken in any case.
func Properties(given map[string]string) (conf map[string]string, asked *Protocol, err error) {
	conf = map[string]string{}
	var unknown []string
	reader, writer := 0, 0
	for k, v := range given {
		lower := strings.ToLower(k)
		switch {
		case !strings.HasPrefix(lower, "delta."), strings.HasPrefix(lower, propCheck):
			conf[k] = v
			continue
		case strings.HasPrefix(lower, propFeature):
			if _, ok := features[k[len(propFeature):]]; !ok {
				unknown = append(unknown, k)
			}
			if asked == nil {
				asked = &Protocol{}
			}
			asked.WriterFeatures = append(asked.WriterFeatures, k[len(propFeature):])
			continue
		}
		name, ok := known[lower]
		if !ok {
			return nil, nil, errclass.New("DELTA_UNKNOWN_CONFIGURATION", "config", k)
		}
		if err := checkProperty(name, v); err != nil {
			return nil, nil, err
		}
		switch name {
		case propMinReader:
			reader, _ = strconv.Atoi(v)
		case propMinWriter:
			writer, _ = strconv.Atoi(v)
		case propIgnoreProtocol:
		default:
			conf[name] = v
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return nil, nil, errclass.New("DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "configs", strings.Join(unknown, ", "))
	}
	if reader > 0 || writer > 0 {
		if asked == nil {
			asked = &Protocol{}
		}
		asked.MinReaderVersion, asked.MinWriterVersion = max(reader, 1), max(writer, 1)
	}
	return conf, asked, nil
}

func checkProperty(name, v string) error {
	bad := ""
	switch {
	case flags[name]:
		if v != "true" && v != "false" {
			bad = "it must be true or false."
		}
	case name == propCheckpointInterval:
		if n, err := strconv.Atoi(v); err != nil || n <= 0 {
			bad = "it must be a positive number."
		}
	case name == propMinReader, name == propMinWriter:
		if _, err := strconv.Atoi(v); err != nil {
			bad = "it must be a number."
		}
	case name == propDeletedRetention, name == propLogRetention:
		if _, ok := duration(v); !ok {
			return errclass.New("DELTA_INVALID_INTERVAL", "interval", v)
		}
	case name == propMapping:
		if v != "none" && v != "name" && v != "id" {
			bad = "it must be none, name or id."
		}
	}
	if bad == "" {
		return nil
	}
	return errclass.New("UNSUPPORTED_TABLE_CHANGE", "message", "the property "+name+" cannot be '"+v+"': "+bad)
}

// duration reads an interval.
func duration(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if len(text) > 9 && strings.EqualFold(text[:9], "interval ") {
		text = text[9:]
	}
	if ms, err := interval.ParseTrigger(text); err == nil {
		return time.Duration(ms) * time.Millisecond, true
	}
	return amount.Time(text, time.Millisecond)
}

func (m *Metadata) duration(key string, otherwise time.Duration) time.Duration {
	if v, ok := m.Configuration[key]; ok {
		if d, ok := duration(v); ok {
			return d
		}
	}
	return otherwise
}

// DeletedFileRetention is how long files stay that are no longer part of the table.
func (m *Metadata) DeletedFileRetention() time.Duration {
	return m.duration(propDeletedRetention, 7*24*time.Hour)
}

// logRetention is how long commits stay that a checkpoint has made superfluous.
func (m *Metadata) logRetention() time.Duration { return m.duration(propLogRetention, 30*24*time.Hour) }

func (m *Metadata) checkpointInterval() int64 {
	if n, err := strconv.ParseInt(m.Configuration[propCheckpointInterval], 10, 64); err == nil && n > 0 {
		return n
	}
	return 10
}

// StatsColumns is how many columns have statistics.
func (m *Metadata) StatsColumns() int {
	if n, err := strconv.Atoi(m.Configuration[propStatsColumns]); err == nil {
		if n < 0 {
			return 1 << 30
		}
		return n
	}
	return 32
}

// AppendOnly tells whether rows may only be added.
func (m *Metadata) AppendOnly() bool { return m.Configuration[propAppendOnly] == "true" }

// AppendOnlyKey is the property that makes a table append-only.
const AppendOnlyKey = propAppendOnly

// Check is a condition that all rows must meet.
type Check struct{ Name, Text string }

// Checks are the conditions of a table, by name.
func (m *Metadata) Checks() []Check {
	var out []Check
	for k, v := range m.Configuration {
		if name, ok := strings.CutPrefix(k, propCheck); ok {
			out = append(out, Check{name, v})
		}
	}
	slices.SortFunc(out, func(a, b Check) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// CheckKey is the property that holds a check.
func CheckKey(name string) string { return propCheck + strings.ToLower(name) }

// WritesVectors tells whether rows may be deleted by deletion vectors.
func (m *Metadata) WritesVectors() bool { return m.Configuration[propVectors] == "true" }
