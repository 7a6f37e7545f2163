#!/usr/bin/env bash
# Runs the example of the README. $PINTLE_CLIENT is the program, $PINTLE_TOOL the tool.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
client=${PINTLE_CLIENT:-$here/../.build/debug/ClientCertificate}
tool=${PINTLE_TOOL:-pintle}
folder=$(mktemp -d)
trap '[ -z "${nginx:-}" ] || kill "$nginx"; rm -rf "$folder"' EXIT
cd "$folder"

new=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2)
for root in server-root client-root; do
    openssl req -x509 "${new[@]}" -subj "/CN=$root" -keyout $root.key -out $root.pem
done 2>/dev/null
issue() { # name, root, extensions
    openssl req "${new[@]:0:5}" -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>/dev/null
    openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -days 1 -extfile <(printf '%s\n' "${@:3}") -out "$1.pem" 2>/dev/null
}
issue server server-root subjectAltName=DNS:localhost extendedKeyUsage=serverAuth
issue client client-root extendedKeyUsage=clientAuth
cat client.pem client.key >identity.pem
pin=sha256/$(openssl x509 -in server.pem -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64)

# Another process may have the port. nginx then ends.
for _ in {1..5}; do
    port=$((20000 + RANDOM % 20000))
    sed -e "s|FOLDER|$folder|g" -e "s|PORT|$port|" "$here/nginx.conf" >nginx.conf
    nginx -e error.log -p "$folder" -c "$folder/nginx.conf" 2>/dev/null &
    nginx=$!
    for _ in {1..100}; do
        ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
        sleep 0.1
    done
    ! kill -0 "$nginx" 2>/dev/null || break
done

echo "== the right server"
"$client" "https://localhost:$port/" "$pin" server-root.pem identity.pem
echo "== another pin: an interceptor"
"$client" "https://localhost:$port/" sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710= server-root.pem identity.pem && exit 1
echo "== the tool"
printf '{"version": 1, "hosts": [{"host": "localhost", "pins": ["%s"], "backupPins": "none-accepted"}]}' "$pin" >policy.json
"$tool" check "https://localhost:$port/" --policy policy.json --anchors server-root.pem --identity identity.pem
[ "$(wc -l <access.log)" -eq 1 ] # only the first client sent a request
