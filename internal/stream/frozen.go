package stream

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/lsm"
	"github.com/millrace/millrace/internal/state/mem"
	"github.com/millrace/millrace/internal/state/providers"
)

// sparkProvider is what stands in the offset log of a query without state, so that it can move to Spark.
const sparkProvider = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

// constantConf are the entries of a new offset log that do not depend on the session: formats of Spark's own state.
var constantConf = map[string]string{
	"spark.sql.streaming.stateStore.rocksdb.formatVersion":          "5",
	"spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion":   "2",
	"spark.sql.streaming.stateStore.encodingFormat":                 "unsaferow",
	"spark.sql.streaming.stateStore.rowChecksum.enabled":            "false",
	"spark.sql.streaming.stateStore.compression.codec":              "lz4",
	"spark.sql.streaming.queryEvolution.enableSourceEvolution":      "false",
	"spark.sql.streaming.statefulOperator.useStrictDistribution":    "true",
	"spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion": "2",
	"spark.sql.streaming.aggregation.stateFormatVersion":            "2",
	"spark.sql.streaming.join.stateFormatVersion":                   "2",
	"spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan":      "false",
	"spark.sql.function.protobufExtensions.enabled":                 "false",
}

// frozen are the settings that a checkpoint fixes.
type frozen struct {
	partitions int
	policy     string
	provider   string // of state
	generation generation
	// conf is what every entry of the offset log says.
	conf checkpoint.Conf
}

// freeze takes the settings of a checkpoint from its log, or makes those of a new one. A new query without a setting of its own
// has as many partitions as there are cores.
func freeze(logged *checkpoint.OffsetSeq, conf Conf, cores int, stateful bool) (frozen, error) {
	if logged != nil {
		return thaw(logged.Metadata.Conf, conf, cores, stateful)
	}
	f := frozen{partitions: cores, policy: conf.Value(keyPolicy)}
	if text, ok := conf.Explicit(keyPartitions); ok {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			f.partitions = n
		}
	}
	if f.policy == "" {
		f.policy = "min"
	}
	all := map[string]string{keyPartitions: strconv.Itoa(f.partitions), keyPolicy: f.policy, keyProvider: sparkProvider}
	for k, v := range constantConf {
		all[k] = v
	}
	if stateful {
		provider, err := providers.Asked(conf.Value(keyProvider))
		if err != nil {
			return f, err
		}
		all[keyProvider], f.provider = provider, provider
	}
	f.conf = checkpoint.NewConf(all)
	return f, nil
}

// openProvider makes the provider of the checkpoint's state.
func (d *driver) openProvider() (state.Provider, error) {
	if d.frozen.provider != lsm.Name {
		return mem.Provider{FS: d.ck.FS(), Log: d.rt.Log, Merges: &d.m.registry.merges}, nil
	}
	limit, err := lsm.ParseLimit(d.conf.Value(lsm.LimitKey))
	return lsm.Provider{FS: d.ck.FS(), Memory: &d.m.registry.memory, Limit: limit}, err
}

// thaw reads the settings of a log. Old logs lack some; then the session's count, as in Spark.
func thaw(logged checkpoint.Conf, conf Conf, cores int, stateful bool) (frozen, error) {
	f := frozen{partitions: cores, policy: "min", conf: logged}
	text, ok := logged.Get(keyPartitions)
	if !ok {
		text, ok = conf.Explicit(keyPartitions)
	}
	if n, err := strconv.Atoi(text); ok && err == nil && n > 0 {
		f.partitions = n
	}
	if p, ok := logged.Get(keyPolicy); ok {
		f.policy = p
	}
	if !stateful {
		return f, nil
	}
	// A session that asks for another provider gets the one that the state was written by.
	asked, err := providers.Asked(conf.Value(keyProvider))
	if err != nil {
		asked = mem.Name
	}
	place, _ := logged.Get(checkpoint.GenerationKey)
	if f.generation, err = checkpoint.ParseGeneration(place); err != nil {
		return f, err
	}
	f.provider, ok = logged.Get(keyProvider)
	switch {
	case !ok:
		f.provider = mem.Name // the first to write logs
	case strings.HasPrefix(f.provider, "org.apache.spark."):
		return f, errclass.New("STATE_OF_SPARK", "provider", f.provider)
	case f.provider != mem.Name && f.provider != lsm.Name:
		return f, errclass.New("STATE_STORE_INVALID_CONFIG_AFTER_RESTART", "configName", keyProvider, "oldConfig", f.provider, "newConfig", asked)
	}
	return f, nil
}
