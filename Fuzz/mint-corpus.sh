#!/usr/bin/env bash
# Writes a few seed inputs for every entry, chosen to reach far into the code. The fuzzer mutates them.
# usage: mint-corpus.sh FOLDER
set -euo pipefail
folder=$1
here=$(realpath "$(dirname "$0")")
for script in "$here"/mint-*.sh; do
    [ "$folder/minted" -nt "$script" ] || rm -f "$folder/minted"
done
[ ! -e "$folder/minted" ] || exit 0
mkdir -p "$folder"
cd "$folder"
seed() { mkdir -p "$1" && printf '%s' "$3" >"$1/seed-$2"; }

seed JSON policy '{"version": 1, "hosts": [{"host": "a.example", "pins": ["sha256/%s"], "port": 443}]}'
mkdir -p Policy
cat >Policy/full <<'END'
{ "version": 1, "updateVersion": 3, "unpinnedHosts": "askUser", "updates": {"anyHost": true}, "hosts": [
  {"host": "api.example.com", "port": 8443, "includeSubdomains": true, "requires": "leafAndCA",
   "pins": [{"spki": "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA=", "at": "leaf"},
    {"certificate": "A2:2A:F0:BD:3E:FB:83:7F:12:0F:69:7A:6B:64:CA:9D:F6:38:A9:10:40:64:BB:B9:42:80:D3:DF:FE:95:D7:A9",
     "at": "ca"}], "backupPins": "none-accepted", "anchors": {"system": true}, "withdraws": "a reason", "issuerKey": "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA=",
   "expiry": {"after": "2027-11-20T00:00:00+01:00", "then": "reject"}, "enforcement": "reportOnly"},
  {"host": "192.0.2.1", "pins": ["pin-sha256=\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\""], "minimumPathLength": 3,
   "backupPins": ["sha256//BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"], "reportTo": ["https://reports.example.net/"]} ]}
END
seed JSON numbers '[0, -1, 9223372036854775807, 1.5e3, true, false, null]'
seed JSON escapes '{"\u0041\ud83d\ude00\n": "é"}'
seed Dates utc '2027-11-20T00:00:00Z'
seed Dates offset '2028-02-29t23:59:59.123456789+01:00'
seed Base64 standard '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
seed Base64 url 'u_-_' && seed Base64 hex 'A2:2A:f0 bd 3e'

hash=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA=
seed Pins printed "sha256/$hash"
seed Pins curl "sha256//$hash"
seed Pins slash "sha256//7DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA="
seed Pins rfc7469 "pin-sha256=\"$hash\""
seed Pins url "${hash//[+\/]/_}"
seed Pins fingerprint 'sha256 Fingerprint=A2:2A:F0:BD:3E:FB:83:7F:12:0F:69:7A:6B:64:CA:9D:F6:38:A9:10:40:64:BB:B9:42:80:D3:DF:FE:95:D7:A9'
seed Arguments pin $'--as\npolicy\n--json\nexample.com:443\n-v\n--\n-file'
seed Arguments check $'https://[2001:db8::1]:8443/path\n--policy=p.json\n--connect-to\n127.0.0.1:1\n--at\n2027-01-01T00:00:00Z'
seed Names host 'API.xn--bcher-kva.example.'
seed Approvals store '{"version":1,"generation":7,"approvals":[{"host":"a.b","port":443,"certificate":"'"$(printf 'ab%.0s' {1..32})"'","accepts":["self-signed"],"approvedAt":"2026-11-20T10:00:00Z","expiresAt":"2027-11-20T10:00:00Z","note":"x"},{"host":"::1","port":1,"spki":"'$hash'","accepts":[],"approvedAt":"2026-11-20T10:00:00Z","revokedAt":"2026-11-21T10:00:00Z"}]}'
mkdir -p Plan Families && cp "$here"/../Examples/plans/*.json Plan/ && cp "$here"/../Sources/PintlePolicyLint/authorities.json Families/
sed -z 's/"renews": {[^}]*}/"renews": {"client": "certbot", "lifetime": 47}/' "$here"/../Examples/plans/renewals.json >Plan/client.json
sed -z 's/"renews": {[^}]*}/"renews": "certbot"/' "$here"/../Examples/plans/renewals.json >Plan/client-name.json
seed Families small '{"version": 1, "date": "2027-01-01", "families": [{"id": "a", "name": "A", "aliases": ["b"], "lifetimes": [{"days": 90}], "rotation": {"sources": [{"url": "u", "read": "2027-01-01", "sentence": "s"}]}, "roots": [{"name": "r", "pin": "'"$hash"'", "notAfter": "2030-01-01", "from": "f"}, {"name": "q", "missing": "m"}]}], "edges": [{"id": "e", "name": "E", "families": ["a"]}]}'
seed Names ipv4 '192.0.2.1:8443' && seed Names ipv6 'https://[2001:db8::192.0.2.1]:443/path?query#fragment'

"$here/mint-certificates.sh" && "$here/mint-updates.sh" && "$here/mint-messages.sh" && "$here/mint-http2.sh" && . "$here/mint-foreign.sh"
mkdir -p Identities
cat leaf.pem middle.pem leaf.key >Identities/pem
openssl pkcs8 -topk8 -in leaf.key -outform DER -passout pass:password >Identities/encrypted-key
for options in '' '-legacy' '-nomac -certpbe NONE'; do
    # shellcheck disable=SC2086
    openssl pkcs12 -export -in leaf.pem -inkey leaf.key -certfile middle.pem -passout pass:password $options >"Identities/p12$options"
done
mkdir -p Batch
line() { printf '{"id": 1, "host": "leaf.example", "at": "2030-01-01T00:00:00Z", "chain": %s, "anchors": %s%s}\n' "$@"; }
list() { printf '['; for pem in "$@"; do printf '%s"%s"' "$comma" "$(sed ':a;N;$!ba;s/\n/\\n/g' "$pem")"; comma=', '; done; printf ']'; }
comma='' chain=$(list leaf.pem middle.pem) anchors=$(list root.pem)
pin=$(openssl pkey -in leaf.key -pubout -outform DER | openssl dgst -sha256 -binary | base64)
rule='{"host": "leaf.example", "pins": ["sha256/'$pin'"], "backupPins": "none-accepted"}'
line "$chain" "$anchors" "" >Batch/path
line "$chain" "[]" ", \"policy\": {\"version\": 1, \"hosts\": [$rule]}" >Batch/policy
cat Batch/path Batch/path - Batch/policy <<<'{"id": "b", "host": 1}' >Batch/several
touch minted
