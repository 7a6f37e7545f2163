// Requests an address with Go and looks for a pin in the paths that Go validated. Usage: go-verified URL PIN...
package main

import (
	"crypto/sha256"
	"crypto/tls"
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
	verify := func(state tls.ConnectionState) error {
		for _, chain := range state.VerifiedChains {
			for _, certificate := range chain {
				hash := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
				if pins[base64.StdEncoding.EncodeToString(hash[:])] {
					return nil
				}
			}
		}
		return errors.New("no pin matches")
	}
	configuration := &tls.Config{VerifyConnection: verify}
	client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{TLSClientConfig: configuration}}
	response, err := client.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	response.Body.Close()
	fmt.Println(response.Status)
}
