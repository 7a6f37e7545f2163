#!/usr/bin/env bash
# Writes seed inputs for the entries that read a session's input from servers and settings, into the working
# directory. mint-corpus.sh runs it.
set -euo pipefail
seed() { mkdir -p "$1" && printf '%s' "$3" >"$1/seed-$2"; }

seed Heads head $'HTTP/1.1 200 OK\r\nX-List: a\r\nx-list: b\r\n c\r\nSet-Cookie: k=v; Path=/; Domain=a.example; Expires=Wed, 09 Jun 2032 10:18:14 GMT, l="w"; Secure\r\nSet-Cookie: m=n; Max-Age=5\r\nContent-Length: 2\r\n\r\n'
seed Redirects absolute 'https://A.example:443/b?c#d'
seed Redirects relative '//[2001:db8::1]/../b'
seed Proxies environment $'socks5h://us%65r:p%40ss@[2001:db8::1]:1080/\n10.0.0.0/8, *.example,b.example:443'
seed Proxies plain $'http://proxy.example:3128\n*'
seed Fields challenges $'Negotiate YII=, Newauth realm="a", type=1, Basic realm="b \"c\""\nDigest realm="r", qop="auth, auth-int", nonce="n", algorithm=SHA-512-256-sess, opaque="o", stale=true'

# A byte that chooses the version, TLS 1.2 or 1.3, then a Certificate message with a plain leaf and above it a
# certificate whose EC key has explicit parameters.
sized() { printf "\\x$(printf '%02x' $((${#1} / 2 >> 16)))\\x$(printf '%02x' $((${#1} / 2 >> 8 & 255)))\\x$(printf '%02x' $((${#1} / 2 & 255)))$(sed 's/../\\x&/g' <<<"$1")"; }
hex() { od -An -v -tx1 "$@" | tr -d ' \n'; }
openssl ecparam -name prime256v1 -param_enc explicit -genkey -noout -out explicit.key
openssl req -x509 -new -key explicit.key -subj /CN=explicit -days 3650 -outform DER -out explicit.der 2>/dev/null
mkdir -p Messages
leaf=$(sized "$(hex Certificate/plain.der)" | hex) extra=$(sized "$(hex explicit.der)" | hex)
{ printf '\0\013' && sized "$(sized "$leaf$extra" | hex)"; } >Messages/tls12
{ printf '\1\013' && sized "00$(sized "${leaf}0000${extra}0000" | hex)"; } >Messages/tls13
