// Gets a URL many times at once: load URL WIDTH BYTES. For each line "WIDTH ROUNDS" of its input it prints the
// nanoseconds of wall and processor time, the latencies p50 and p99, and 0 for allocations, which it does not count.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func processorTime() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func get(client *http.Client, url string, bytes int64) {
	response, err := client.Get(url)
	if err != nil {
		fmt.Println("bench:", err)
		os.Exit(2)
	}
	count, err := io.Copy(io.Discard, response.Body)
	response.Body.Close()
	if err != nil || count != bytes {
		fmt.Println("bench: not the answer")
		os.Exit(2)
	}
}

func main() {
	url := os.Args[1]
	limit, _ := strconv.Atoi(os.Args[2])
	bytes, _ := strconv.ParseInt(os.Args[3], 10, 64)
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConns: 0, MaxIdleConnsPerHost: limit, MaxConnsPerHost: limit, ForceAttemptHTTP2: true,
	}}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var width, rounds int
		fmt.Sscan(input.Text(), &width, &rounds)
		latencies := make([]int64, width*rounds)
		processor, wall := processorTime(), time.Now()
		var group sync.WaitGroup
		for task := 0; task < width; task++ {
			group.Add(1)
			go func(latencies []int64) {
				defer group.Done()
				for round := range latencies {
					start := time.Now()
					get(client, url, bytes)
					latencies[round] = time.Since(start).Nanoseconds()
				}
			}(latencies[task*rounds : (task+1)*rounds])
		}
		group.Wait()
		elapsed, used := time.Since(wall).Nanoseconds(), processorTime()-processor
		sort.Slice(latencies, func(a, b int) bool { return latencies[a] < latencies[b] })
		last := len(latencies) - 1
		fmt.Println(elapsed, used, latencies[last*50/100], latencies[last*99/100], 0)
	}
}
