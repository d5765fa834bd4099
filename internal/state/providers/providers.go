package providers

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/lsm"
	"github.com/millrace/millrace/internal/state/mem"
)

// Key is the setting that names the provider, of a session and in the offset log.
const Key = "spark.sql.streaming.stateStore.providerClass"

// Asked is the provider that a new query gets for what the session asks for. Spark's own names stand for what they mean there: state in
// memory, or state that may be larger.
func Asked(name string) (string, error) {
	class, spark := strings.CutPrefix(name, "org.apache.spark.sql.execution.streaming.state.")
	switch {
	case name == lsm.Name, spark && strings.HasPrefix(class, "RocksDB"):
		return lsm.Name, nil
	case name == "", name == mem.Name, spark:
		return mem.Name, nil
	}
	return "", errclass.New("STATE_STORE_INVALID_PROVIDER", "inputClass", name)
}

// ReaderOf is the reader of the provider that an offset log names; the first to write logs named none.
func ReaderOf(logged string, fsys fs.FS) (state.Reader, error) {
	switch logged {
	case lsm.Name:
		return lsm.Reader{FS: fsys}, nil
	case mem.Name, "":
		return mem.Reader{FS: fsys}, nil
	}
	if strings.HasPrefix(logged, "org.apache.spark.") {
		return nil, errclass.New("STATE_OF_SPARK", "provider", logged)
	}
	return nil, errclass.New("STATE_STORE_INVALID_PROVIDER", "inputClass", logged)
}
