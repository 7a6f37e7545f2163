#!/bin/bash
# Measures how many servers a second `pintle audit` asks, beside a C program with the same handshakes, and whether 20,000
# servers take longer each than 2,000. run.sh calls audit.sh MATERIAL
set -euo pipefail
make -C .. release-tool >&2
swift build -c release --product CAudit >&2
tool=$PWD/../.build/release/pintle
peer=$(swift build -c release --show-bin-path)/CAudit
table=$PWD/audit.awk
cd "$1"
command -v /usr/bin/time >/dev/null || { echo "bench: /usr/bin/time is needed: apt-get install time" >&2; exit 2; }

pin=$(openssl x509 -in audit.pem -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64)
cat >audit.json <<END
{"version": 1, "hosts": [{"host": "audit.test", "includeSubdomains": true, "pins": ["sha256/$pin"],
 "backupPins": ["sha256/$(openssl rand -base64 32)"]}]}
END
cat audit.pem intermediate.pem >chain.pem

# Starts nginx with four addresses, so that closed connections do not use up the client's ports.
start() {
    cat >nginx.conf <<END
pid nginx.pid;
worker_processes 1;
events { worker_connections 2048; }
http {
    access_log off;
    $(for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $kind;"; done)
    server {
        $(for last in 1 2 3 4; do echo "listen 127.0.0.$last:$1 ssl;"; done)
        ssl_certificate chain.pem;
        ssl_certificate_key audit.key;
        ssl_protocols TLSv1.3;
        ssl_session_tickets off;
    }
}
END
    taskset -c 0 nginx -p "$PWD" -e error.log -c nginx.conf 2>/dev/null
}
for port in $(shuf -i 20000-30000 -n 5) none; do start "$port" && break; done
[ "$port" != none ] || { echo "bench: nginx does not start" >&2; exit 2; }
trap 'nginx -p "$PWD" -e error.log -c nginx.conf -s stop' EXIT
for count in 2000 20000; do
    seq "$count" | awk -v port="$port" '{ print "h" $1 ".audit.test 127.0.0." $1 % 4 + 1 ":" port }' >"hosts.$count"
done

# Prints: program, servers, wall time, user time, system time in seconds, peak memory in KiB.
measure() {
    local command=("$peer" root.pem "hosts.$2" 100 "$pin")
    rm -f results
    [ "$1" = C ] || command=("$tool" audit audit.json --hosts "hosts.$2" --anchors root.pem -o results --parallel 100)
    /usr/bin/time -o times -f "$1 $2 %e %U %S %M" taskset -c $(($(nproc) - 1)) "${command[@]}" >output 2>errors ||
        { cat output errors >&2; exit 2; }
    cat times
}
for _ in 1 2 3 4 5; do for name in pintle C; do measure $name 2000; done; done >runs
measure pintle 20000 >>runs

sort -k1,2 -k3n runs | awk -f "$table"
