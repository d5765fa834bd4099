package client

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"
)

// storeKind finds out how a store of keys is written: its type, or what its first bytes say, as Java does.
func storeKind(content []byte, name string) (string, error) {
	switch name = strings.ToUpper(strings.TrimSpace(name)); {
	case name == "PEM":
		return "PEM", nil
	case name != "" && name != "JKS" && name != "PKCS12":
		return "", errors.New("stores of the type " + name + " are not supported; use PEM, PKCS12 or JKS")
	case bytes.HasPrefix(content, []byte{0xfe, 0xed, 0xfe, 0xed}):
		return "JKS", nil
	case bytes.Contains(content, []byte("-----BEGIN ")):
		return "PEM", nil
	}
	return "PKCS12", nil
}

// trustStore reads the certificates of a trust store.
func trustStore(content []byte, name, password string) ([]*x509.Certificate, error) {
	kind, err := storeKind(content, name)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	switch kind {
	case "PKCS12":
		if certs, err = pkcs12.DecodeTrustStore(content, password); err != nil {
			return nil, err
		}
	case "JKS":
		store := keystore.New()
		if err := store.Load(bytes.NewReader(content), []byte(password)); err != nil {
			return nil, err
		}
		for _, alias := range store.Aliases() {
			e, err := store.GetTrustedCertificateEntry(alias)
			if err != nil {
				continue // a key
			}
			c, err := x509.ParseCertificate(e.Certificate.Content)
			if err != nil {
				return nil, err
			}
			certs = append(certs, c)
		}
	default:
		for {
			var b *pem.Block
			if b, content = pem.Decode(content); b == nil {
				break
			}
			if b.Type != "CERTIFICATE" {
				continue
			}
			c, err := x509.ParseCertificate(b.Bytes)
			if err != nil {
				return nil, err
			}
			certs = append(certs, c)
		}
	}
	if len(certs) == 0 {
		return nil, errors.New("there is no certificate in it")
	}
	return certs, nil
}

// keyStore reads the key of a key store with its certificates.
func keyStore(content []byte, name, password, keyPassword string) (tls.Certificate, error) {
	kind, err := storeKind(content, name)
	if err != nil {
		return tls.Certificate{}, err
	}
	switch kind {
	case "PKCS12":
		key, leaf, chain, err := pkcs12.DecodeChain(content, password)
		if err != nil {
			return tls.Certificate{}, err
		}
		out := tls.Certificate{PrivateKey: key, Leaf: leaf, Certificate: [][]byte{leaf.Raw}}
		for _, c := range chain {
			out.Certificate = append(out.Certificate, c.Raw)
		}
		return out, nil
	case "JKS":
		store := keystore.New()
		if err := store.Load(bytes.NewReader(content), []byte(password)); err != nil {
			return tls.Certificate{}, err
		}
		for _, alias := range store.Aliases() {
			if !store.IsPrivateKeyEntry(alias) {
				continue
			}
			e, err := store.GetPrivateKeyEntry(alias, []byte(keyPassword))
			if err != nil {
				return tls.Certificate{}, err
			}
			key, err := x509.ParsePKCS8PrivateKey(e.PrivateKey)
			if err != nil {
				return tls.Certificate{}, err
			}
			out := tls.Certificate{PrivateKey: key}
			for _, c := range e.CertificateChain {
				out.Certificate = append(out.Certificate, c.Content)
			}
			return out, nil
		}
		return tls.Certificate{}, errors.New("there is no key in it")
	}
	return pemPair(content, content)
}
