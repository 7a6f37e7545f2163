// Requests an address with Go and looks for a pin among the certificates that the server sent: a common recipe with a
// flaw. go-verified.go is the repaired one. Usage: go-raw URL PIN...
package main

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	pins := map[string]bool{}
	for _, pin := range os.Args[2:] {
		pins[pin] = true
	}
	verify := func(rawCerts [][]byte, _ [][]*x509.Certificate) error {
		for _, raw := range rawCerts {
			certificate, err := x509.ParseCertificate(raw)
			if err != nil {
				return err
			}
			hash := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
			if pins[base64.StdEncoding.EncodeToString(hash[:])] {
				return nil
			}
		}
		return errors.New("no pin matches")
	}
	configuration := &tls.Config{VerifyPeerCertificate: verify}
	client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{TLSClientConfig: configuration}}
	response, err := client.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	response.Body.Close()
	fmt.Println(response.Status)
}
