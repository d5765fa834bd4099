package connect

import (
	"time"

	"github.com/millrace/millrace/internal/session"
)

// Settings are the limits of the service, under Spark's names.
type Settings struct {
	// SessionTimeout is how long a session without requests and running queries is kept.
	SessionTimeout time.Duration // spark.connect.session.manager.defaultSessionTimeout
	// DetachedTimeout is how long an operation that no client reads is kept.
	DetachedTimeout time.Duration // spark.connect.execute.manager.detachedTimeout
	// StreamDuration and StreamBytes are when a reattachable response stream is cut; 0 is never.
	StreamDuration time.Duration // spark.connect.execute.reattachable.senderMaxStreamDuration
	StreamBytes    int64         // spark.connect.execute.reattachable.senderMaxStreamSize
	// RetryBytes is how much is kept of what was sent and not released.
	RetryBytes int64 // spark.connect.execute.reattachable.observerRetryBufferSize
	// AheadBytes is how far a result may be computed ahead of its reader.
	AheadBytes int64 // spark.millrace.connect.aheadBytes
	// Progress is how often a waiting stream shows a sign of life; 0 is never.
	Progress time.Duration // spark.connect.progress.reportInterval
	// BatchBytes is about how large an Arrow batch is.
	BatchBytes int64 // spark.millrace.connect.batchBytes
}

// settingKeys are the settings with the defaults that they have when the server is not told otherwise.
var settingKeys = map[string]string{
	"spark.connect.session.manager.defaultSessionTimeout":        "60m",
	"spark.connect.execute.manager.detachedTimeout":              "5m",
	"spark.connect.execute.reattachable.senderMaxStreamDuration": "2m",
	"spark.connect.execute.reattachable.senderMaxStreamSize":     "1g",
	"spark.connect.execute.reattachable.observerRetryBufferSize": "10m",
	"spark.connect.progress.reportInterval":                      "2s",
	"spark.millrace.connect.aheadBytes":                          "32m",
	"spark.millrace.connect.batchBytes":                          "2m",
}

// SettingsOf reads the settings that a server was started with.
func SettingsOf(conf map[string]string) Settings {
	get := func(key string) string {
		if v, ok := conf[key]; ok {
			return v
		}
		return settingKeys[key]
	}
	return Settings{
		SessionTimeout:  session.ParseDuration(get("spark.connect.session.manager.defaultSessionTimeout")),
		DetachedTimeout: session.ParseDuration(get("spark.connect.execute.manager.detachedTimeout")),
		StreamDuration:  session.ParseDuration(get("spark.connect.execute.reattachable.senderMaxStreamDuration")),
		StreamBytes:     session.ParseBytes(get("spark.connect.execute.reattachable.senderMaxStreamSize")),
		RetryBytes:      session.ParseBytes(get("spark.connect.execute.reattachable.observerRetryBufferSize")),
		Progress:        session.ParseDuration(get("spark.connect.progress.reportInterval")),
		AheadBytes:      session.ParseBytes(get("spark.millrace.connect.aheadBytes")),
		BatchBytes:      session.ParseBytes(get("spark.millrace.connect.batchBytes")),
	}
}
