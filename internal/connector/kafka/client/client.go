package client

import (
	"log/slog"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Options are what every client of the settings is made with.
func (s Settings) Options(log *slog.Logger) ([]kgo.Opt, error) {
	if err := s.Check(log); err != nil {
		return nil, err
	}
	var seeds []string
	for _, seed := range strings.Split(s["bootstrap.servers"], ",") {
		if seed = strings.TrimSpace(seed); seed != "" {
			seeds = append(seeds, seed)
		}
	}
	if len(seeds) == 0 {
		return nil, refused("bootstrap.servers", s["bootstrap.servers"], "it must list at least one host:port")
	}
	id := s["client.id"]
	if id == "" {
		id = "millrace"
	}
	out := []kgo.Opt{
		kgo.SeedBrokers(seeds...), kgo.ClientID(id), kgo.DisableClientMetrics(), kgo.SoftwareNameAndVersion("millrace", "1"),
		// Topics come and go under a query; what it knows of them must not be old.
		kgo.MetadataMinAge(50 * time.Millisecond), kgo.MetadataMaxAge(max(50*time.Millisecond, s.Millis("metadata.max.age.ms", 5*time.Minute))),
		kgo.ConnIdleTimeout(max(time.Second, s.Millis("connections.max.idle.ms", 9*time.Minute))),
		kgo.DialTimeout(max(time.Millisecond, s.Millis("socket.connection.setup.timeout.ms", 10*time.Second))),
		kgo.RetryTimeout(max(time.Millisecond, s.Millis("request.timeout.ms", 30*time.Second))),
		kgo.RetryBackoffFn(s.backoff()),
		kgo.BrokerMaxReadBytes(1 << 30),
	}
	if rack := s["client.rack"]; rack != "" {
		out = append(out, kgo.Rack(rack))
	}
	tls, err := s.security()
	if err != nil {
		return nil, err
	}
	return append(out, tls...), nil
}

// backoff waits longer with each try, as Kafka's client does.
func (s Settings) backoff() func(int) time.Duration {
	first := max(time.Millisecond, s.Millis("retry.backoff.ms", 100*time.Millisecond))
	most := max(first, s.Millis("retry.backoff.max.ms", time.Second))
	return func(tries int) time.Duration {
		return min(first<<min(max(0, tries-1), 10), most)
	}
}

// Producer are the options of a client that writes, beside Options.
func (s Settings) Producer() ([]kgo.Opt, error) {
	linger := 0.0
	if v, ok := s["linger.ms"]; ok {
		d, err := time.ParseDuration(strings.TrimSpace(v) + "ms")
		if err != nil || d < 0 {
			return nil, refused("linger.ms", v, "it must be a number of milliseconds")
		}
		linger = float64(d)
	}
	out := []kgo.Opt{
		kgo.ProducerLinger(time.Duration(linger)),
		kgo.ProducerBatchMaxBytes(int32(min(max(s.Number("max.request.size", 1<<20), 1<<10), 1<<28))),
		// The whole of a batch may wait: who writes is held back by bytes, not by rows.
		kgo.MaxBufferedRecords(1 << 30),
		kgo.MaxBufferedBytes(int(min(max(s.Number("buffer.memory", 32<<20), 1<<16), 1<<32))),
		kgo.ProduceRequestTimeout(max(100*time.Millisecond, s.Millis("request.timeout.ms", 30*time.Second))),
		kgo.RecordDeliveryTimeout(max(time.Second, s.Millis("delivery.timeout.ms", 2*time.Minute))),
		kgo.UnknownTopicRetries(max(1, int(s.Millis("max.block.ms", time.Minute)/(250*time.Millisecond)))),
	}
	if _, given := s["retries"]; given {
		out = append(out, kgo.RecordRetries(int(s.Number("retries", 0))))
	}
	idempotent, err := s.flag("enable.idempotence", true)
	if err != nil {
		return nil, err
	}
	acks := strings.ToLower(strings.TrimSpace(s["acks"]))
	switch acks {
	case "", "all", "-1":
		out = append(out, kgo.RequiredAcks(kgo.AllISRAcks()))
	case "0", "1":
		if _, asked := s["enable.idempotence"]; asked && idempotent {
			return nil, refused("acks", acks, "an idempotent producer needs all; set "+Prefix+"enable.idempotence to false or leave "+Prefix+"acks away")
		}
		idempotent = false
		if acks == "0" {
			out = append(out, kgo.RequiredAcks(kgo.NoAck()))
		} else {
			out = append(out, kgo.RequiredAcks(kgo.LeaderAck()))
		}
	default:
		return nil, refused("acks", acks, "it must be all, 0 or 1")
	}
	if !idempotent {
		out = append(out, kgo.DisableIdempotentWrite())
	}
	if _, given := s["max.in.flight.requests.per.connection"]; given {
		n := s.Number("max.in.flight.requests.per.connection", 5)
		if n < 1 || idempotent && n > 5 {
			return nil, refused("max.in.flight.requests.per.connection", s["max.in.flight.requests.per.connection"], "it must be 1 to 5 for an idempotent producer")
		}
		out = append(out, kgo.MaxProduceRequestsInflightPerBroker(int(n)))
	}
	codec, err := s.compression()
	if err != nil {
		return nil, err
	}
	return append(out, kgo.ProducerBatchCompression(codec)), nil
}

func (s Settings) compression() (kgo.CompressionCodec, error) {
	name := strings.ToLower(strings.TrimSpace(s["compression.type"]))
	var c kgo.CompressionCodec
	switch name {
	case "", "none":
		return kgo.NoCompression(), nil
	case "gzip":
		c = kgo.GzipCompression()
	case "snappy":
		c = kgo.SnappyCompression()
	case "lz4":
		c = kgo.Lz4Compression()
	case "zstd":
		c = kgo.ZstdCompression()
	default:
		return c, refused("compression.type", name, "it must be none, gzip, snappy, lz4 or zstd")
	}
	if level := "compression." + name + ".level"; s[level] != "" {
		c = c.WithLevel(int(s.Number(level, 0)))
	}
	return c, nil
}
