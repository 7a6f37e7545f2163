#!/usr/bin/env bash
# Writes the first inputs of the entries that read what a session gets from servers and settings, into the
# working directory. For mint-corpus.sh.
set -euo pipefail
seed() { mkdir -p "$1" && printf '%s' "$3" >"$1/seed-$2"; }

seed Heads head $'HTTP/1.1 200 OK\r\nX-List: a\r\nx-list: b\r\n c\r\nSet-Cookie: k=v; Path=/; Domain=a.example; Expires=Wed, 09 Jun 2032 10:18:14 GMT, l="w"; Secure\r\nSet-Cookie: m=n; Max-Age=5\r\nContent-Length: 2\r\n\r\n'
seed Redirects absolute 'https://A.example:443/b?c#d'
seed Redirects relative '//[2001:db8::1]/../b'
seed Proxies environment $'socks5h://us%65r:p%40ss@[2001:db8::1]:1080/\n10.0.0.0/8, *.example,b.example:443'
seed Proxies plain $'http://proxy.example:3128\n*'
seed Fields challenges $'Negotiate YII=, Newauth realm="a", type=1, Basic realm="b \"c\""\nDigest realm="r", qop="auth, auth-int", nonce="n", algorithm=SHA-512-256-sess, opaque="o", stale=true\nmax-age="60", private="a, b", no-cache, no-store'
