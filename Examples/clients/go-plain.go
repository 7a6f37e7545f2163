// Requests an address with Go, which trusts the roots of $SSL_CERT_FILE. Usage: go-plain URL
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	client := http.Client{Timeout: 3 * time.Second}
	response, err := client.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	response.Body.Close()
	fmt.Println(response.Status)
}
