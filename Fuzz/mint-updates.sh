#!/usr/bin/env bash
# Writes first inputs of the entries that read updates, in the folder it is run in.
set -euo pipefail
seed() { mkdir -p "$1" && printf '%s' "$3" >"$1/seed-$2"; }
hash=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFA=
rules='[{"host": "example.com", "includeSubdomains": true, "pins": ["sha256/'$hash'"], "backupPins": "none-accepted"}]'
update='{"version": 7, "issuedAt": "2026-01-01T00:00:00Z", "expiresAt": "2030-01-01T00:00:00Z", "policy": '
seed Payload good "$update{\"version\": 1, \"hosts\": $rules}, \"more\": [1.5]}"
seed Envelope good '{"payload": "e30=", "payloadType": "text/plain", "signatures": [{"keyid": "x", "sig": "AAAA"}], "x": 1e3}'
