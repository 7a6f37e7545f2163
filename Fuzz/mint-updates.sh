#!/usr/bin/env bash
# Writes seed inputs for the entries that read updates and the spool of reports, into the working directory.
set -euo pipefail
seed() { mkdir -p "$1" && printf '%s' "$3" >"$1/seed-$2"; }
hash=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA=
rules='[{"host": "example.com", "includeSubdomains": true, "pins": ["sha256/'$hash'"], "backupPins": "none-accepted"}]'
update='{"version": 7, "issuedAt": "2026-01-01T00:00:00Z", "expiresAt": "2030-01-01T00:00:00Z", "policy": '
seed Payload good "$update{\"version\": 1, \"hosts\": $rules}, \"more\": [1.5]}"
seed Envelope good '{"payload": "e30=", "payloadType": "text/plain", "signatures": [{"keyid": "x", "sig": "AAAA"}], "x": 1e3}'
id=0123456789abcdef
pem='-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
report='{"date-time": "2026-11-20T10:00:00Z", "hostname": "a.b", "port": 443, "effective-expiration-date": null,
 "include-subdomains": true, "noted-hostname": "b", "served-certificate-chain": ["'$pem'", "x"],
 "validated-certificate-chain": ["'$pem'"], "known-pins": ["pin-sha256=\"'$hash'\""], "enforcement": "enforce",
 "reason": "pin-mismatch", "path-failure": "expired", "policy-version": 7, "app": {"name": "x"}}'
seed Spool report '{"to": ["https://c.d/x"], "refused": true, "report": '"$report}"
seed Spool state '{"draw": 7, "seen": {"'$id$id'": 1800000000000}, "addresses": {"https://c.d/x": {"failures": 1, "askedAt": 1,
 "notBefore": 2, "isGone": true}}, "finished": {"'$id$id'": [0, 3]}, "counts": {"delivered": 1, "lost": 2}}'
seed Spool name "$id-$id$id-1800000000000-1800000000900-$id$id.report"
seed Spool date 'Fri, 15 Jan 2027 10:00:00 GMT'
