package client

import (
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
)

// Prefix begins the names of the options that go to the client.
const Prefix = "kafka."

// Settings are the client's settings by name, without the prefix and in lower case.
type Settings map[string]string

// Cut takes the client's settings out of options.
func Cut(options map[string]string) Settings {
	s := Settings{}
	for k, v := range options {
		if low := strings.ToLower(k); strings.HasPrefix(low, Prefix) {
			s[low[len(Prefix):]] = v
		}
	}
	return s
}

// kind says what becomes of a setting.
type kind uint8

const (
	// text settings are looked up by name where they matter.
	text kind = iota
	// number settings are whole numbers that matter.
	number
	// idle settings tune parts that this client has not, or tunes by itself; idleNumber those that are whole numbers.
	idle
	idleNumber
	// foreign settings are refused: they load Java classes, or ask for what this client cannot do.
	foreign
)

// known are the settings of Kafka's consumer and producer.
var known = map[string]kind{
	"bootstrap.servers": text, "client.id": text, "client.rack": text, "group.id": text, "isolation.level": text, "check.crcs": text,
	"acks": text, "compression.type": text, "enable.idempotence": text, "linger.ms": text,
	"security.protocol": text, "sasl.mechanism": text, "sasl.jaas.config": text,
	"ssl.truststore.location": text, "ssl.truststore.password": text, "ssl.truststore.type": text, "ssl.truststore.certificates": text,
	"ssl.keystore.location": text, "ssl.keystore.password": text, "ssl.keystore.type": text, "ssl.key.password": text,
	"ssl.keystore.key": text, "ssl.keystore.certificate.chain": text, "ssl.endpoint.identification.algorithm": text,
	"ssl.enabled.protocols": text, "ssl.protocol": text,

	"request.timeout.ms": number, "default.api.timeout.ms": number, "fetch.min.bytes": number, "fetch.max.wait.ms": number,
	"fetch.max.bytes": number, "max.partition.fetch.bytes": number, "metadata.max.age.ms": number, "connections.max.idle.ms": number,
	"socket.connection.setup.timeout.ms": number, "retry.backoff.ms": number, "retry.backoff.max.ms": number,
	"batch.size": number, "max.request.size": number, "buffer.memory": number, "max.block.ms": number, "delivery.timeout.ms": number,
	"retries": number, "max.in.flight.requests.per.connection": number, "transaction.timeout.ms": number,
	"compression.gzip.level": number, "compression.lz4.level": number, "compression.zstd.level": number,

	// There is no group membership and no polling loop, and connections are looked after by the client.
	"session.timeout.ms": idleNumber, "heartbeat.interval.ms": idleNumber, "max.poll.records": idleNumber, "max.poll.interval.ms": idleNumber,
	"auto.commit.interval.ms": idleNumber, "reconnect.backoff.ms": idleNumber, "reconnect.backoff.max.ms": idleNumber,
	"receive.buffer.bytes": idleNumber, "send.buffer.bytes": idleNumber, "socket.connection.setup.timeout.max.ms": idleNumber,
	"metadata.max.idle.ms": idleNumber, "metrics.num.samples": idleNumber, "metrics.sample.window.ms": idleNumber,
	"partitioner.availability.timeout.ms": idleNumber, "metadata.recovery.rebootstrap.trigger.ms": idleNumber,
	"group.instance.id": idle, "group.protocol": idle, "group.remote.assignor": idle, "partition.assignment.strategy": idle,
	"client.dns.lookup": idle, "metrics.recording.level": idle, "metric.reporters": idle, "auto.include.jmx.reporter": idle,
	"enable.metrics.push": idle, "exclude.internal.topics": idle, "allow.auto.create.topics": idle, "metadata.recovery.strategy": idle,
	"internal.throw.on.fetch.stable.offset.unsupported": idle, "internal.leave.group.on.close": idle, "partitioner.adaptive.partitioning.enable": idle,
	"sasl.kerberos.service.name": idle, "ssl.secure.random.implementation": idle,

	"partitioner.class": foreign, "partitioner.ignore.keys": foreign, "interceptor.classes": foreign, "security.providers": foreign,
	"transactional.id": foreign, "ssl.engine.factory.class": foreign, "ssl.cipher.suites": foreign, "ssl.provider": foreign,
	"ssl.keymanager.algorithm": foreign, "ssl.trustmanager.algorithm": foreign, "sasl.client.callback.handler.class": foreign,
	"sasl.login.callback.handler.class": foreign, "sasl.login.class": foreign,
}

// foreignFamilies are beginnings of names that are refused as a whole.
var foreignFamilies = []string{"sasl.oauthbearer.", "sasl.kerberos.", "sasl.login."}

// instead says what to use in place of settings that are refused.
var instead = map[string]string{
	"transactional.id":  "the transactions of the sink are asked for by the option transactional",
	"partitioner.class": "fill the column partition to choose partitions",
}

// Check refuses settings that cannot be carried out and values that cannot be read, and logs names that nobody knows, as Kafka's own client
// does.
func (s Settings) Check(log *slog.Logger) error {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		k, ok := known[name]
		if !ok {
			if slices.ContainsFunc(foreignFamilies, func(f string) bool { return strings.HasPrefix(name, f) }) {
				k = foreign
			} else {
				if log != nil {
					log.Warn("the Kafka client knows no such setting", "option", Prefix+name)
				}
				continue
			}
		}
		switch k {
		case number, idleNumber:
			if _, err := s.number(name, 0); err != nil {
				return err
			}
		case foreign:
			why := instead[name]
			if why == "" {
				why = "this client has nothing of the kind"
			}
			return refused(name, s[name], why)
		}
	}
	return nil
}

// number reads a whole number.
func (s Settings) number(name string, otherwise int64) (int64, error) {
	v, ok := s[name]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil {
		return 0, refused(name, v, "it must be a whole number")
	}
	return n, nil
}

// Number reads a whole number that Check has let pass.
func (s Settings) Number(name string, otherwise int64) int64 {
	n, _ := s.number(name, otherwise)
	return n
}

// Millis reads a time in milliseconds that Check has let pass.
func (s Settings) Millis(name string, otherwise time.Duration) time.Duration {
	return time.Duration(s.Number(name, otherwise.Milliseconds())) * time.Millisecond
}

// flag reads true or false.
func (s Settings) flag(name string, otherwise bool) (bool, error) {
	v, ok := s[name]
	if !ok {
		return otherwise, nil
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, refused(name, v, "it must be true or false")
}

// ReadCommitted tells whether records of transactions that were aborted, or are not done, are to be left out.
func (s Settings) ReadCommitted() (bool, error) {
	switch v := strings.ToLower(s["isolation.level"]); v {
	case "", "read_uncommitted":
		return false, nil
	case "read_committed":
		return true, nil
	default:
		return false, refused("isolation.level", v, "it must be read_committed or read_uncommitted")
	}
}

// CheckCRCs tells whether the checksums of record batches are to be looked at.
func (s Settings) CheckCRCs() (bool, error) { return s.flag("check.crcs", true) }

// refused is the error of a value that the client does not take.
func refused(name, value, why string) error {
	if strings.Contains(name, "password") || name == "sasl.jaas.config" || name == "ssl.keystore.key" {
		value = "(hidden)"
	}
	e := errclass.New("KAFKA_CLIENT", "reason", "it does not take the value '"+value+"' for "+Prefix+name+": "+why+".")
	if administrative(name) {
		return e.WithKind(errclass.Other)
	}
	return e
}

// administrative tells whether a setting matters to Spark's first client already, which asks for topics and offsets: it fails with another
// exception than those that read and write.
func administrative(name string) bool {
	switch name {
	case "bootstrap.servers", "request.timeout.ms", "default.api.timeout.ms", "metadata.max.age.ms", "connections.max.idle.ms", "retry.backoff.ms",
		"retry.backoff.max.ms", "reconnect.backoff.ms", "reconnect.backoff.max.ms", "receive.buffer.bytes", "send.buffer.bytes", "retries",
		"socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.max.ms", "client.dns.lookup", "metrics.num.samples", "metrics.sample.window.ms":
		return true
	}
	return strings.HasPrefix(name, "security.") || strings.HasPrefix(name, "sasl.") || strings.HasPrefix(name, "ssl.")
}
