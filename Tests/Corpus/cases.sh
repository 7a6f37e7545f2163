# Read by bash before each case: see Scripts/corpus.py. Words are not taken for patterns of file names.
set -f -o pipefail
pintle() { LD_PRELOAD=$CLOCK "$TOOL" "$@"; }

# Members of a rule, with single quotes.
api="'host':'api.example.com'"
pinned="'pins':['$API'],'backupPins':['$BACKUP']"

# Prints a policy, a line for each member. Each argument has the members of a rule, with single quotes.
policy() {
    local rules="" rule
    for rule; do rules+="${rules:+, }{${rule//,\'/,$'\n'\'}}"; done
    printf '{"version": 1, "hosts": [%s]}\n' "${rules//\'/\"}"
}

# Decides about a chain by a policy with one rule.
decide() {
    local name=chain_$1
    pintle evaluate --batch <<< "{\"id\":1,\"host\":\"api.example.com\",\"chain\":${!name},\"policy\":$(policy "$2" | tr -d '\n')}"
}

# Checks a server of the kit by a policy with one rule.
live() {
    policy "$2" > in.json
    pintle check https://api.example.com --policy in.json --connect-to "${!1}" "${@:3}"
}

# Leaves the certificates out of the JSON of a verdict.
brief() { sed '/"presentedCertificates": \[$/,/^  \],$/d; /"validatedPath": \[$/,/^  \],$/d'; }

# Approves the certificate of a chain in in.trust.
approved() {
    local print=print_$1
    pintle trust approve api.example.com --certificate "${!print}" --store in.trust "${@:2}" > /dev/null 2>&1
}

# Runs the tool on a terminal, where a person types the first argument once the tool asks.
terminal() {
    : > "$TMPDIR/screen"
    {
        until grep -aqE '\[no\]: |REJECTED' "$TMPDIR/screen"; do sleep 0.02; done
        ! grep -aq '\[no\]: ' "$TMPDIR/screen" || echo "$1"
    } | script -qefc "env LD_PRELOAD=$CLOCK $TOOL ${*:2}" "$TMPDIR/screen"
}

# Reads a file of families that sed has changed.
broken() { sed "$1" families.json > in.json; pintle pin --authority small --families in.json; }

# Makes a store with two approvals: in.trust.
approve() {
    pintle trust approve nas.home.arpa --certificate "$print_private" --note 'in the cellar' --store in.trust &&
        pintle trust approve box.home.arpa:8443 --key "$OTHER" --expires 2027-11-20T00:00:00Z --store in.trust
} > /dev/null 2>&1

# Signs a policy with one rule as update 7: in.update.
update() {
    policy "${1:-$api,$pinned}" > in.policy
    pintle sign --key update.key --version 7 --expires 2027-02-18T00:00:00Z in.policy -o in.update 2> /dev/null
}

# Signs any payload as an update: in.update. DSSE signs "DSSEv1", and type and payload with their lengths.
forge() {
    local kind=${2:-application/vnd.pintle.policy+json}
    printf 'DSSEv1 %d %s %d %s' ${#kind} $kind ${#1} "$1" > in.bytes
    openssl pkeyutl -sign -rawin -inkey update.key -in in.bytes -out in.signature
    printf '{"payloadType": "%s", "payload": "%s", "signatures": [{"sig": "%s"}]}' \
        $kind "$(printf %s "$1" | base64 -w0)" "$(base64 -w0 in.signature)" > in.update
}

# Imports a platform's file of the kit that sed has changed.
from() { sed "$2" "import.$1" | pintle import --from "$1" - "${@:3}"; }

# Plays the plan of the kit, changed by sed.
planned() { sed "$1" plan.json > in.json && pintle plan in.json "${@:2}"; }

# Plays an example of the project.
example() { pintle plan "$examples/plans/$1.json" --at 2026-11-20 "${@:2}"; }

# Proposes the next policy after one with a single rule, for a server of the kit.
renewed() {
    policy "$2" > in.json
    pintle renew in.json --connect-to "${!1}" "${@:3}"
}

# Audits servers of every kind. One at a time, so that the results have the order of the list.
audit() {
    local name
    [ -e in.hosts ] || for name in good other expired private ending closed plain rsa; do
        echo "${name//_/-}.example.com ${!name}"
    done > in.hosts
    policy "'host':'example.com','includeSubdomains':true,$pinned" "'host':'rsa.example.com'" > in.policy
    pintle audit in.policy --hosts in.hosts --parallel 1 "$@"
}

# Writes the results of audits on several days, DAY:SERVER: in.past. If the first argument is not empty, they are of a server
# that was reached at this address.
past() {
    local place=${1:+\"connectTo\":\"$1\",} result server
    set -- "${@:2}"
    [ $# -gt 0 ] || set 2026-09-20:good 2026-10-20:good 2026-11-20:renewed 2026-12-01:closed 2026-12-20:other 2027-01-10:foreign
    for result; do
        server=${result#*:}
        pintle audit policy.json --connect-to "${!server}" --json 2> /dev/null |
            sed "s/2027-01-15T08/${result%:*}T06/; s/\"connectTo\":\"[^\"]*\",/$place/"
    done > in.past
    return 0
}

# A client that validates with the authorities of a rehearsal. Its head has the same length with each version of curl.
validating="curl -s -m 3 -A corpus --cacert {ca}"

# Starts the servers of a rehearsal. `stop` ends them as Ctrl-C does, and prints what they printed.
serve() {
    : > in.out > in.errors
    LD_PRELOAD=$CLOCK "$TOOL" rehearse --http 1.1 --serve "$@" > in.out 2> in.errors &
    served=$!
    curl -s "$(printed 's|^  trust +([^ ]*).*|\1|p')" > in.ca
    page=$(printed 's|^  (page +http://\|proxy +)([^ ]*).*|http://\2|p')
}
stop() {
    kill -TERM $served
    wait $served
    local code=$?
    cat in.out
    cat in.errors >&2
    return $code
}

# Waits until the servers have printed a line, and prints it as sed changes it.
printed() {
    local text
    until text=$(cat in.out in.errors | sed -nE "$1") && [ "$text" ]; do sleep 0.02; done
    echo "$text"
}

# Sends a request to the server of an attack, or with more arguments to any, and waits until the servers have told of it.
ask() {
    local url=$1 before
    [[ $url = http* ]] || url=$(printed "s|^  $url .*(https://[^ ]*).*|\1|p")
    before=$(cat in.out in.errors | wc -l)
    LD_PRELOAD=$CLOCK curl -s -m 3 -A corpus -o /dev/null --cacert in.ca "$url" "${@:2}"
    echo "the client ends with $?"
    for _ in {1..100}; do
        [ "$(cat in.out in.errors | wc -l)" -eq "$before" ] || break
        sleep 0.02
    done
}
