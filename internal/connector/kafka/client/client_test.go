package client

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/millrace/millrace/internal/errclass"
)

func TestCut(t *testing.T) {
	got := Cut(map[string]string{"KAFKA.Bootstrap.Servers": "a:1", "kafka.acks": "all", "topic": "t"})
	if d := cmp.Diff(Settings{"bootstrap.servers": "a:1", "acks": "all"}, got); d != "" {
		t.Error(d)
	}
}

// Every setting that cannot be carried out is refused by its name, and secrets are not repeated.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"session.timeout.ms", "not-a-number"},
		{"fetch.max.bytes", "many"},
		{"security.protocol", "SSL3"},
		{"sasl.mechanism", "GSSAPI"},
		{"sasl.oauthbearer.token.endpoint.url", "x"},
		{"ssl.engine.factory.class", "x"},
		{"ssl.cipher.suites", "x"},
		{"ssl.truststore.location", "/nowhere"},
		{"ssl.enabled.protocols", "TLSv1"},
		{"ssl.endpoint.identification.algorithm", "ldap"},
		{"sasl.jaas.config", `M required username="u" password="se`},
		{"bootstrap.servers", " , "},
	} {
		s := Settings{"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": `M required username="u" password="secret";`}
		s[c.name] = c.value
		_, err := s.Options(nil)
		if !errclass.Has(err, "KAFKA_CLIENT") || !strings.Contains(err.Error(), "kafka."+c.name) {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
		if err != nil && strings.Contains(err.Error(), "se;") {
			t.Errorf("a password is told: %v", err)
		}
	}
	for _, c := range []struct{ name, value string }{
		{"acks", "2"}, {"compression.type", "rar"}, {"linger.ms", "long"}, {"enable.idempotence", "perhaps"}, {"max.in.flight.requests.per.connection", "6"},
	} {
		if _, err := (Settings{c.name: c.value}).Producer(); !errclass.Has(err, "KAFKA_CLIENT") || !strings.Contains(err.Error(), "kafka."+c.name) {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
	if _, err := (Settings{"isolation.level": "none"}).ReadCommitted(); err == nil {
		t.Error("isolation.level none is taken")
	}
}

func TestAccepted(t *testing.T) {
	s := Settings{"bootstrap.servers": "a:1, b:2", "heartbeat.interval.ms": "1", "foo.bar": "x", "client.id": "c", "request.timeout.ms": " 4000 "}
	if _, err := s.Options(nil); err != nil {
		t.Error(err)
	}
	for _, p := range []Settings{{}, {"acks": "1"}, {"acks": "-1", "enable.idempotence": "true"}, {"compression.type": "zstd", "compression.zstd.level": "3"}, {"linger.ms": "0.5", "retries": "2"}} {
		opts, err := p.Producer()
		if err != nil {
			t.Errorf("%v: %v", p, err)
			continue
		}
		cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers("127.0.0.1:1"))...)
		if err != nil {
			t.Errorf("%v: %v", p, err)
			continue
		}
		cl.Close()
	}
}

func TestJAAS(t *testing.T) {
	for text, want := range map[string]map[string]string{
		`org.x.PlainLoginModule required username="a" password="b c;";`: {"username": "a", "password": "b c;"},
		`M required  username=a   password='b"c' ;`:                     {"username": "a", "password": `b"c`},
		`M required username="a\"b" tokenauth=true password="";`:        {"username": `a"b`, "tokenauth": "true", "password": ""},
		`M required;`: {},
	} {
		got, err := parseJAAS(text)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, d)
		}
	}
	for _, text := range []string{"", "M required username=a", `M required username="a;`, "M required username;"} {
		if _, err := parseJAAS(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// ping asks a broker for anything.
func ping(t *testing.T, s Settings) error {
	t.Helper()
	opts, err := s.Options(nil)
	if err != nil {
		return err
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	return cl.Ping(ctx)
}

func serve(t *testing.T, opts ...kfake.Opt) Settings {
	t.Helper()
	c, err := kfake.NewCluster(append(opts, kfake.NumBrokers(1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return Settings{"bootstrap.servers": c.ListenAddrs()[0], "request.timeout.ms": "200", "retry.backoff.ms": "5", "retry.backoff.max.ms": "5"}
}

func (s Settings) with(kv ...string) Settings {
	out := Settings{}
	for k, v := range s {
		out[k] = v
	}
	for i := 0; i < len(kv); i += 2 {
		out[kv[i]] = kv[i+1]
	}
	return out
}

func TestSASL(t *testing.T) {
	for _, m := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		s := serve(t, kfake.EnableSASL(), kfake.Superuser(m, "alice", `pa"ss`)).with("security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", m)
		if err := ping(t, s.with("sasl.jaas.config", `M required username="alice" password="pa\"ss";`)); err != nil {
			t.Errorf("%s: %v", m, err)
		}
		if err := ping(t, s.with("sasl.jaas.config", `M required username="alice" password="wrong";`)); err == nil { // this broker hangs up without a word
			t.Errorf("%s with a wrong password: %v", m, err)
		}
	}
}

// certificate makes one for a host that vouches for itself.
func certificate(t *testing.T, host string) (tls.Certificate, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
	} else {
		tmpl.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, leaf
}

// Trust and key stores of all three kinds, with a broker that wants to see a certificate.
func TestTLS(t *testing.T) {
	own, leaf := certificate(t, "127.0.0.1")
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	s := serve(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert})).with("security.protocol", "SSL")

	dir := t.TempDir()
	write := func(name string, content []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	must := func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	pkcs8 := must(x509.MarshalPKCS8PrivateKey(own.PrivateKey))
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	jks := func(trust bool) []byte {
		store := keystore.New()
		cert := keystore.Certificate{Type: "X509", Content: leaf.Raw}
		var err error
		if trust {
			err = store.SetTrustedCertificateEntry("ca", keystore.TrustedCertificateEntry{CreationTime: time.Now(), Certificate: cert})
		} else {
			err = store.SetPrivateKeyEntry("own", keystore.PrivateKeyEntry{CreationTime: time.Now(), PrivateKey: pkcs8, CertificateChain: []keystore.Certificate{cert}}, []byte("secret"))
		}
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := store.Store(&b, []byte("secret")); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, stores := range map[string]Settings{
		"PEM": {"ssl.truststore.location": write("t.pem", certPEM), "ssl.keystore.location": write("k.pem", append(keyPEM, certPEM...))},
		"PEM in the settings": {
			"ssl.truststore.certificates": string(certPEM), "ssl.truststore.type": "PEM",
			"ssl.keystore.certificate.chain": string(certPEM), "ssl.keystore.key": string(keyPEM),
		},
		"PKCS12": {
			"ssl.truststore.location": write("t.p12", must(pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{leaf}, "secret"))), "ssl.truststore.password": "secret", "ssl.truststore.type": "PKCS12",
			"ssl.keystore.location": write("k.p12", must(pkcs12.Modern.Encode(own.PrivateKey, leaf, nil, "secret"))), "ssl.keystore.password": "secret",
		},
		"JKS": {
			"ssl.truststore.location": write("t.jks", jks(true)), "ssl.truststore.password": "secret", "ssl.truststore.type": "JKS",
			"ssl.keystore.location": write("k.jks", jks(false)), "ssl.keystore.password": "secret", "ssl.key.password": "secret",
		},
	} {
		full := s.with()
		for k, v := range stores {
			full[k] = v
		}
		if err := ping(t, full); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if full["ssl.truststore.password"] != "" {
			if err := ping(t, full.with("ssl.truststore.password", "wrong")); !errclass.Has(err, "KAFKA_CLIENT") {
				t.Errorf("%s with a wrong password: %v", name, err)
			}
		}
	}
	if err := ping(t, s.with("ssl.truststore.certificates", string(certPEM))); err == nil {
		t.Error("the broker takes a client without a certificate")
	}
}

// A name that the certificate does not have is an error, unless names are not to be looked at; a certificate nobody trusts always is.
func TestHostNames(t *testing.T) {
	own, leaf := certificate(t, "elsewhere.example")
	s := serve(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{own}})).with("security.protocol", "SSL",
		"ssl.truststore.certificates", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})))
	if err := ping(t, s); err == nil {
		t.Error("another host's certificate is taken")
	}
	if err := ping(t, s.with("ssl.endpoint.identification.algorithm", "")); err != nil {
		t.Error(err)
	}
	delete(s, "ssl.truststore.certificates")
	if err := ping(t, s.with("ssl.endpoint.identification.algorithm", "")); err == nil {
		t.Error("a certificate that nobody trusts is taken")
	}
}
