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

hash=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA=
seed Pins printed "sha256/$hash"
seed Pins curl "sha256//$hash"
seed Pins slash "sha256//7DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA="
seed Pins rfc7469 "pin-sha256=\"$hash\""
seed Pins url "${hash//[+\/]/_}"
seed Pins fingerprint 'sha256 Fingerprint=A2:2A:F0:BD:3E:FB:83:7F:12:0F:69:7A:6B:64:CA:9D:F6:38:A9:10:40:64:BB:B9:42:80:D3:DF:FE:95:D7:A9'
seed Names host 'API.xn--bcher-kva.example.'
seed Names ipv4 '192.0.2.1:8443'
seed Names ipv6 'https://[2001:db8::192.0.2.1]:443/path?query#fragment'

mkdir -p PEM DER Certificate
mint() { # name, kind of key...
    local names="DNS:$1.example,DNS:*.$1.example,IP:192.0.2.1,IP:2001:db8::1,email:a@$1.example,URI:https://$1.example/"
    openssl req -x509 -newkey "${@:2}" -nodes -keyout "PEM/$1.key" -out "PEM/$1.pem" -days 3650 \
        -subj "/C=DE/O=Example+OU=$1/CN=$1.example" -addext "subjectAltName=$names,RID:1.2.3.4" \
        -addext "basicConstraints=critical,CA:TRUE,pathlen:1" -addext "keyUsage=critical,digitalSignature,keyCertSign" \
        -addext "nameConstraints=critical,permitted;DNS:.example,excluded;IP:10.0.0.0/255.0.0.0" \
        -addext "extendedKeyUsage=serverAuth,1.3.6.1.5.5.7.3.17" 2>/dev/null
    openssl x509 -in "PEM/$1.pem" -outform DER -out "Certificate/$1.der"
}
mint rsa rsa:2048
mint p256 ec -pkeyopt ec_paramgen_curve:P-256
mint explicit ec -pkeyopt ec_paramgen_curve:P-384 -pkeyopt ec_param_enc:explicit
mint ed25519 ed25519
openssl req -x509 -key PEM/p256.key -out plain.pem -subj / -set_serial 1 -config /dev/null -days 99999
openssl x509 -in plain.pem -outform DER -out Certificate/plain.der
cp Certificate/*.der DER/
cat PEM/rsa.pem PEM/p256.pem >PEM/bundle.pem
touch minted
