#!/bin/sh
# Replaces policy.json by the next policy that pintle proposes, and writes its words to proposal.txt. Without a change
# neither file is touched. Requests in keys/HOST/*.csr become backup pins of the rule for HOST. Nothing is signed.
# usage: propose.sh [OPTION...]        options of pintle renew; run it in the folder of policy.json
set -eu
for request in keys/*/*.csr; do
    [ ! -e "$request" ] || set -- --key "$(basename "$(dirname "$request")")=$request" "$@"
done
trap 'rm -f next.json words.txt' EXIT
rm -f next.json
# A server with an unknown key ends the script here (exit code 1), and nothing is proposed.
pintle renew policy.json "$@" -o next.json >words.txt || { code=$?; cat words.txt; exit "$code"; }
[ -e next.json ] || { cat words.txt; exit 0; }
mv next.json policy.json
sed '/pintle sign /s/next\.json/policy.json/' words.txt >proposal.txt
cat proposal.txt
