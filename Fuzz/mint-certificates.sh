#!/usr/bin/env bash
# Writes certificates and chains as seed inputs into the working directory. The repository stores none,
# because certificates expire.
set -euo pipefail

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

mkdir -p Path
issue() { # name, issuer, extensions...
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.pem" -subj "/CN=$1" \
        -days 3650 $([ "$1" = "$2" ] || echo -CA "$2.pem" -CAkey "$2.key") "${@:3}" 2>/dev/null
    openssl x509 -in "$1.pem" -outform DER -out "$1.der"
}
authority=(-addext keyUsage=critical,keyCertSign -addext basicConstraints=critical,CA:TRUE)
issue root root "${authority[@]}"
issue other root "${authority[@]}"
issue middle root "${authority[@]}" -addext 'nameConstraints=critical,permitted;DNS:example' \
    -addext certificatePolicies=critical,1.2.3.4 -addext policyConstraints=critical,requireExplicitPolicy:0
issue leaf middle -addext subjectAltName=DNS:leaf.example -addext extendedKeyUsage=serverAuth \
    -addext basicConstraints=CA:FALSE -addext keyUsage=critical,digitalSignature -addext certificatePolicies=1.2.3.4
cat leaf.der middle.der root.der >Path/good
cat leaf.der other.der root.der >Path/broken
cat leaf.der other.der middle.der leaf.der root.der >Path/shuffled
cat leaf.der leaf.der >Path/self
cat PEM/rsa.pem PEM/p256.pem >PEM/bundle.pem

mkdir -p Keys
cp PEM/*.pem PEM/*.key Certificate/*.der Keys/
for key in PEM/*.key; do
    name=Keys/$(basename "$key" .key)
    openssl pkey -in "$key" -pubout -out "$name.public.pem"
    openssl pkey -in "$key" -outform DER -out "$name.key.der"
    openssl req -new -key "$key" -subj "/CN=request" -out "$name.request.pem" 2>/dev/null
done
openssl rsa -in PEM/rsa.key -traditional -out Keys/rsa.traditional.pem 2>/dev/null
openssl ec -in PEM/p256.key -out Keys/p256.traditional.pem 2>/dev/null
