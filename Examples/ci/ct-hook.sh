#!/bin/sh
# ct-hook.sh HOST CHAIN.pem
set -eu
verdict=$(jq -nc --arg host "$1" --rawfile pem "$2" --slurpfile policy known-keys.json '
    {id: 1, host: $host, policy: $policy[0],
     chain: [$pem | scan("-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")]}' | pintle evaluate --batch)
case $verdict in *'"pin-matched"'*) exit 0 ;; esac
pin=$(pintle pin "$2" --json | jq -r '.[0].certificates[0].spkiPin')
[ -n "$pin" ] || { echo "a certificate for $1 that cannot be read: $2 $verdict"; exit 1; }
if ! grep -qF "$pin" known-keys.json; then
    echo "a certificate for $1 whose key no rule knows: $2 $verdict"
    exit 1
fi
# A precertificate has an extension that makes every path invalid. Its key is what counts.
case $verdict in *'"unhandled-critical-extension"'*) exit 0 ;; esac
echo "a certificate for $1 with a known key and no valid path here: $2 $verdict"
exit 1
