# Prints the table of section H. Each line of input is a run: program, servers, wall time, user time, system time in
# seconds, peak memory in KiB; sorted by the first three. The run with the median wall time counts.
{
    id = $1 " " $2
    runs[id]++
    wall[id, runs[id]] = $3
    processor[id, runs[id]] = ($4 + $5) * 1e6 / $2
    if ($6 > peak[id]) peak[id] = $6
}
function median(values, id) { return values[id, int((runs[id] + 1) / 2)] }
function row(name, id, servers) {
    printf "  %-20s  %7d  %9d  %21.0f  %9.1f\n", name, servers, servers / median(wall, id), median(processor, id), \
        peak[id] / 1024
}
END {
    print "\nH. Audit of servers, 100 at a time"
    printf "  %-20s  %7s  %9s  %21s  %9s\n", "program", "servers", "servers/s", "us of processor each", "peak, MiB"
    row("pintle audit", "pintle 2000", 2000)
    row("C, poll and OpenSSL", "C 2000", 2000)
    row("pintle audit", "pintle 20000", 20000)
    pintle = median(processor, "pintle 2000")
    printf "  pintle : C, processor time      %.2f\n", pintle / median(processor, "C 2000")
    printf "  pintle : C, servers/s           %.2f\n", median(wall, "C 2000") / median(wall, "pintle 2000")
    printf "  20,000 : 2,000, processor time  %.2f\n", median(processor, "pintle 20000") / pintle
}
