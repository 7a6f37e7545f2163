#!/usr/bin/env bash
# Proves the protocol of the updates' store by looking at every state of its model, and that the model
# would find a mistake: each mutation, named in store.pml, must break an assertion. Then checks the laws of the decision over
# all states of decision.py.
set -euo pipefail
shopt -s inherit_errexit
model=$(realpath "$(dirname "$0")")/store.pml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

errors() { # compile-time options of the model... -> how many errors were found
    spin "${@:1}" -a "$model" >spin.log || { cat spin.log >&2 && return 1; }
    rm -f pan
    cc -O1 -DSAFETY -o pan pan.c
    ./pan -m100000 >pan.log
    ! grep 'max search depth too small' pan.log >&2 || { echo "model: the search was cut off" >&2 && return 1; }
    sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log | grep . # without a number nothing was searched
}

count=$(errors)
[ "$count" -eq 0 ] || { cat pan.log >&2 && echo "model: an assertion does not hold" >&2 && exit 1; }
states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.log)
for mutation in FLOOR_FIRST NO_FLOOR NO_KEY_SET FALL_BACK; do
    count=$(errors -D$mutation)
    [ "$count" -gt 0 ] || { echo "model: the mutation $mutation is not found" >&2 && exit 1; }
done
echo "model: all of $states states hold; all four mutations are found"
python3 "$(dirname "$model")/decision.py" laws >laws.log || { cat laws.log >&2 && exit 1; }
echo "model: $(grep -c 'all hold' laws.log) laws of the decision hold"
