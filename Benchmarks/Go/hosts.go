// Host look-up in Go's map, over the names and queries that the Swift program wrote:
// one rule a line, then an empty line, then one query a line.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"time"
)

func find(rules map[string]uint32, name string) (uint32, bool) {
	for {
		if rule, ok := rules[name]; ok {
			return rule, true
		}
		dot := strings.IndexByte(name, '.')
		if dot < 0 {
			return 0, false
		}
		name = name[dot+1:]
	}
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

var sink uint32

func main() {
	input := bufio.NewScanner(os.Stdin)
	before := heap()
	rules := map[string]uint32{}
	for input.Scan() && input.Text() != "" {
		rules[strings.Clone(input.Text())] = uint32(len(rules))
	}
	perRule := float64(heap()-before) / float64(len(rules))
	// Each group of queries is named by a line that starts with '#'.
	var groups []string
	queries := map[string][]string{}
	for input.Scan() {
		line := strings.Clone(input.Text())
		if strings.HasPrefix(line, "#") {
			groups = append(groups, line[1:])
		} else {
			group := groups[len(groups)-1]
			queries[group] = append(queries[group], line)
		}
	}
	for _, group := range groups {
		names := queries[group]
		rounds := 1 + 65536/len(names)
		var times []float64
		for batch := 0; batch < 31; batch++ {
			start := time.Now()
			for round := 0; round < rounds; round++ {
				for _, name := range names {
					rule, _ := find(rules, name)
					sink += rule
				}
			}
			times = append(times, float64(time.Since(start).Nanoseconds())/float64(rounds*len(names)))
		}
		sort.Float64s(times)
		fmt.Printf("%s %.1f\n", group, times[len(times)/2])
	}
	fmt.Printf("bytes %.0f\n", perRule)
}
