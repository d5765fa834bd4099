package connect

import (
	"time"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/errclass"
)

// Settings are the limits of the service. settingsOf has the names and the defaults.
type Settings struct {
	// SessionTimeout is how long a session without requests and running queries is kept.
	SessionTimeout time.Duration
	// DetachedTimeout is how long an operation that no client reads is kept.
	DetachedTimeout time.Duration
	// StreamDuration and StreamBytes are when a reattachable response stream is cut; 0 is never.
	StreamDuration time.Duration
	StreamBytes    int64
	// RetryBytes is how much is kept of what was sent and not released.
	RetryBytes int64
	// AheadBytes is how far a result may be computed ahead of its reader.
	AheadBytes int64
	// Progress is how often a waiting stream shows a sign of life; 0 is never.
	Progress time.Duration
	// BatchBytes is about how large an Arrow batch is.
	BatchBytes int64
}

// settingsOf reads the settings that a server was started with; one that cannot be read is an error that names it.
func settingsOf(conf map[string]string) (s Settings, err error) {
	get := func(key, otherwise string) string {
		if v, ok := conf[key]; ok {
			return v
		}
		return otherwise
	}
	unreadable := func(key, what string) {
		if err == nil {
			err = errclass.New("INVALID_CONF_VALUE.REQUIREMENT", "confName", key, "confValue", conf[key], "confRequirement", what)
		}
	}
	length := func(key, otherwise string) time.Duration {
		d, ok := amount.Time(get(key, otherwise), time.Millisecond)
		if !ok {
			unreadable(key, "It is a time such as 500ms, 2m or 1h.")
		}
		return d
	}
	size := func(key, otherwise string) int64 {
		n, ok := amount.Bytes(get(key, otherwise))
		if !ok {
			unreadable(key, "It is a size such as 512k, 10m or 1g.")
		}
		return n
	}
	s = Settings{
		SessionTimeout:  length("spark.connect.session.manager.defaultSessionTimeout", "60m"),
		DetachedTimeout: length("spark.connect.execute.manager.detachedTimeout", "5m"),
		StreamDuration:  length("spark.connect.execute.reattachable.senderMaxStreamDuration", "2m"),
		StreamBytes:     size("spark.connect.execute.reattachable.senderMaxStreamSize", "1g"),
		RetryBytes:      size("spark.connect.execute.reattachable.observerRetryBufferSize", "10m"),
		Progress:        length("spark.connect.progress.reportInterval", "2s"),
		AheadBytes:      size("spark.millrace.connect.aheadBytes", "32m"),
		BatchBytes:      size("spark.millrace.connect.batchBytes", "2m"),
	}
	return s, err
}
