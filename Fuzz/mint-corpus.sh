#!/usr/bin/env bash
# Mints the first inputs of every entry, with openssl where a certificate is wanted. Nothing is stored
# in the repository, for certificates rot. usage: mint-corpus.sh FOLDER
set -euo pipefail
folder=$1
[ ! "$folder/minted" -nt "$0" ] || exit 0
mkdir -p "$folder"
cd "$folder"
seed() { mkdir -p "$1" && printf '%s' "$3" >"$1/seed-$2"; }

seed JSON policy '{"version": 1, "hosts": [{"host": "a.example", "pins": ["sha256/%s"], "port": 443}]}'
seed JSON numbers '[0, -1, 9223372036854775807, 1.5e3, true, false, null]'
seed JSON escapes '{"\u0041\ud83d\ude00\n": "é"}'
seed Dates utc '2027-11-20T00:00:00Z'
seed Dates offset '2028-02-29t23:59:59.123456789+01:00'
seed Base64 standard '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
seed Base64 url 'u_-_'
seed Base64 hex 'A2:2A:f0 bd 3e'

mkdir -p PEM
request() { # name, options for the key...
    openssl req -x509 -newkey "${@:2}" -nodes -keyout "PEM/$1.key" -out "PEM/$1.pem" -days 30 -subj "/O=Example/CN=$1.example" \
        -addext "subjectAltName=DNS:$1.example,DNS:*.$1.example,IP:192.0.2.1,IP:2001:db8::1,email:a@$1.example" \
        -addext "nameConstraints=critical,permitted;DNS:.example,excluded;IP:10.0.0.0/255.0.0.0" \
        -addext "extendedKeyUsage=serverAuth" -addext "keyUsage=critical,digitalSignature,keyCertSign" 2>/dev/null
}
request rsa rsa:2048
request p256 ec -pkeyopt ec_paramgen_curve:P-256
request ed25519 ed25519
cat PEM/rsa.pem PEM/p256.pem >PEM/bundle.pem
touch minted
