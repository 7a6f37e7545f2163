#!/bin/sh
# Mints root RSA-4096 -> intermediate RSA-2048 -> a P-256 and an RSA-2048 leaf for bench.example, and a P-256 leaf for
# *.audit.test, as PEM and DER, into the directory $1.
set -eu
cd "$1"

rsa() { openssl genpkey -algorithm RSA -pkeyopt "rsa_keygen_bits:$1" -out "$2.key" 2>/dev/null; }
sign() { # name, subject, issuer, extensions
    openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
    printf '%s\n' "$4" >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA "$3.pem" -CAkey "$3.key" -days 300 -sha256 \
        -set_serial "0x10$(openssl rand -hex 15)" -extfile "$1.ext" -out "$1.pem" 2>/dev/null
}
ids='subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid'
leaf="$ids
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth
subjectAltName=DNS:bench.example,DNS:www.bench.example"

rsa 4096 root
openssl req -x509 -new -key root.key -subj '/C=XX/O=Bench/CN=Bench Root' -days 3650 -sha256 -out root.pem \
    -addext 'keyUsage=critical,keyCertSign,cRLSign'
rsa 2048 intermediate
sign intermediate '/C=XX/O=Bench/CN=Bench Intermediate' root "$ids
basicConstraints=critical,CA:TRUE,pathlen:0
keyUsage=critical,keyCertSign,cRLSign"
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out leaf-p256.key
sign leaf-p256 '/CN=bench.example' intermediate "$leaf"
rsa 2048 leaf-rsa
sign leaf-rsa '/CN=bench.example' intermediate "$leaf"
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out audit.key
sign audit '/CN=audit.test' intermediate "${leaf%DNS:bench*}DNS:*.audit.test"
for name in root intermediate leaf-p256 leaf-rsa audit; do
    openssl x509 -in "$name.pem" -outform DER -out "$name.der"
done
