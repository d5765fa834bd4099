package client

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// security are the options for the protocol of the settings.
func (s Settings) security() ([]kgo.Opt, error) {
	protocol := strings.ToUpper(strings.TrimSpace(s["security.protocol"]))
	var out []kgo.Opt
	switch protocol {
	case "", "PLAINTEXT":
		return nil, nil
	case "SSL", "SASL_PLAINTEXT", "SASL_SSL":
	default:
		return nil, refused("security.protocol", protocol, "it must be PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL")
	}
	if strings.HasSuffix(protocol, "SSL") {
		c, err := s.tls()
		if err != nil {
			return nil, err
		}
		out = append(out, kgo.DialTLSConfig(c))
	}
	if strings.HasPrefix(protocol, "SASL") {
		m, err := s.sasl()
		if err != nil {
			return nil, err
		}
		out = append(out, kgo.SASL(m))
	}
	return out, nil
}

func (s Settings) sasl() (sasl.Mechanism, error) {
	name := strings.ToUpper(strings.TrimSpace(s["sasl.mechanism"]))
	switch name {
	case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512":
	case "", "GSSAPI":
		return nil, refused("sasl.mechanism", name, "Kerberos (GSSAPI, which is Kafka's default) is not supported; use PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
	default:
		return nil, refused("sasl.mechanism", name, "it must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
	}
	jaas, err := parseJAAS(s["sasl.jaas.config"])
	if err != nil {
		return nil, refused("sasl.jaas.config", "", err.Error())
	}
	user, ok := jaas["username"]
	if !ok {
		return nil, refused("sasl.jaas.config", "", `it must name username="..." and password="..."`)
	}
	switch name {
	case "PLAIN":
		return plain.Auth{User: user, Pass: jaas["password"]}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: jaas["password"], IsToken: jaas["tokenauth"] == "true"}.AsSha256Mechanism(), nil
	}
	return scram.Auth{User: user, Pass: jaas["password"], IsToken: jaas["tokenauth"] == "true"}.AsSha512Mechanism(), nil
}

// parseJAAS reads the options of a login module: org.example.Module required username="u" password="p";
func parseJAAS(text string) (map[string]string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, errors.New("it must be set, as in org.apache.kafka.common.security.plain.PlainLoginModule required username=\"...\" password=\"...\";")
	}
	if !strings.HasSuffix(text, ";") {
		return nil, errors.New("it must end with a semicolon")
	}
	_, rest, _ := strings.Cut(strings.TrimSuffix(text, ";"), " ") // the module
	_, rest, ok := strings.Cut(strings.TrimSpace(rest), " ")      // required, ...
	if out := map[string]string{}; !ok || strings.TrimSpace(rest) == "" {
		return out, nil
	}
	out := map[string]string{}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, errors.New("a name in it has no value")
		}
		value, tail, err := jaasValue(strings.TrimSpace(after))
		if err != nil {
			return nil, err
		}
		out[strings.ToLower(strings.TrimSpace(key))] = value
		rest = tail
	}
	return out, nil
}

// jaasValue takes a value, quoted or not, from the front.
func jaasValue(s string) (value, rest string, err error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		value, rest, _ = strings.Cut(s, " ")
		return value, rest, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errors.New("a quotation mark in it is not closed")
}

var tlsVersions = map[string]uint16{"TLSV1.2": tls.VersionTLS12, "TLSV1.3": tls.VersionTLS13}

func (s Settings) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if v, ok := s["ssl.enabled.protocols"]; ok {
		c.MinVersion, c.MaxVersion = tls.VersionTLS13, tls.VersionTLS12
		for name := range strings.SplitSeq(v, ",") {
			version := tlsVersions[strings.ToUpper(strings.TrimSpace(name))]
			if version == 0 {
				return nil, refused("ssl.enabled.protocols", v, "only TLSv1.2 and TLSv1.3 are supported")
			}
			c.MinVersion, c.MaxVersion = min(c.MinVersion, version), max(c.MaxVersion, version)
		}
	}
	var err error
	if c.RootCAs, err = s.trusted(); err != nil {
		return nil, err
	}
	if c.Certificates, err = s.ownCertificate(); err != nil {
		return nil, err
	}
	switch v, given := s["ssl.endpoint.identification.algorithm"]; {
	case !given, strings.EqualFold(strings.TrimSpace(v), "https"):
	case strings.TrimSpace(v) == "":
		// The chain is checked all the same, only the name is not.
		roots := c.RootCAs
		c.InsecureSkipVerify = true
		c.VerifyConnection = func(state tls.ConnectionState) error {
			between := x509.NewCertPool()
			for _, cert := range state.PeerCertificates[1:] {
				between.AddCert(cert)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
			return err
		}
	default:
		return nil, refused("ssl.endpoint.identification.algorithm", v, "it must be https, or empty to check no host name")
	}
	return c, nil
}

// trusted are the authorities of the trust store; nil stands for those of the system.
func (s Settings) trusted() (*x509.CertPool, error) {
	if text := s["ssl.truststore.certificates"]; text != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(text)) {
			return nil, refused("ssl.truststore.certificates", "(a certificate)", "there is no PEM certificate in it")
		}
		return pool, nil
	}
	file := s["ssl.truststore.location"]
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, refused("ssl.truststore.location", file, err.Error())
	}
	certs, err := trustStore(content, s["ssl.truststore.type"], s["ssl.truststore.password"])
	if err != nil {
		return nil, refused("ssl.truststore.location", file, err.Error())
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// ownCertificate is what the client shows to a broker that asks.
func (s Settings) ownCertificate() ([]tls.Certificate, error) {
	password := s["ssl.key.password"]
	if chain := s["ssl.keystore.certificate.chain"]; chain != "" {
		cert, err := pemPair([]byte(chain), []byte(s["ssl.keystore.key"]))
		if err != nil {
			return nil, refused("ssl.keystore.certificate.chain", "(a certificate)", err.Error())
		}
		return []tls.Certificate{cert}, nil
	}
	file := s["ssl.keystore.location"]
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, refused("ssl.keystore.location", file, err.Error())
	}
	if password == "" {
		password = s["ssl.keystore.password"]
	}
	cert, err := keyStore(content, s["ssl.keystore.type"], s["ssl.keystore.password"], password)
	if err != nil {
		return nil, refused("ssl.keystore.location", file, err.Error())
	}
	return []tls.Certificate{cert}, nil
}

// pemPair makes a certificate of a chain and a key that is not encrypted.
func pemPair(chain, key []byte) (tls.Certificate, error) {
	if b, _ := pem.Decode(key); b != nil && strings.Contains(b.Type, "ENCRYPTED") {
		return tls.Certificate{}, fmt.Errorf("an encrypted key in PEM is not supported; use a PKCS12 store")
	}
	return tls.X509KeyPair(chain, key)
}
