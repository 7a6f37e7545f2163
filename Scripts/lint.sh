#!/usr/bin/env bash
# Proves the house rules that neither the compiler nor the formatter knows. Each `rule` is one: what
# to say, the pattern, the files. A line that ends in "// lint: <why>" is an exception with its reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
found=0
report() { # message; the offending lines come on standard input
    local line
    while IFS= read -r line; do echo "$line   <- $1" && found=1; done
}
lines() { git grep --untracked -nE "$@" | grep -vE '^[^:]*:[0-9]+: *//|// lint: ' || true; }
rule() { report "$1" < <(lines "$2" -- "${@:3}"); }

all='Sources/*.swift'
rule 'traps on input; throw or return a verdict' 'try!|as! |\b(fatalError|preconditionFailure|assertionFailure)\(' $all
rule 'traps on input; guard, then throw' '\b(precondition|assert)\(' $all
rule 'a bit pattern is not a conversion' '\bunsafeBitCast\(' $all
rule 'targets choose the platform, not the core' '#(else)?if .*\b(os|targetEnvironment)\(' 'Sources/Pintle/*.swift'
rule 'a library prints nothing' '(^|[^.[:alnum:]_])(print|debugPrint|dump)\(' $all ':!Sources/PintleCLI' ':!Sources/PintleTools'
rule 'a name says the duty' '(class|struct|enum|actor|protocol) \w*(Manager|Helper|Util|SSL)\w* *[:{<]' $all
# What a public function takes or gives has to be public too, so that this closes every way past a policy.
rule 'a closure can trust everyone: only a policy may judge a server' '(public|open) (enum|struct|class|protocol|typealias) (HandshakeVerdict|PeerChain)\b' 'Sources/PintleOpenSSL/*.swift'
rule 'left open' '\b(TODO|FIXME|XXX)\b' $all 'Tests/*.swift' 'Fuzz/*.swift'
rule 'give the condition under which it runs' '\.disabled\(\)' 'Tests/*.swift'
rule 'a test that is commented out' '^ *// *@Test' 'Tests/*.swift'

# What the compiler is asked to believe carries its proof in a comment at most three lines above.
believed() {
    lines '@unchecked Sendable|nonisolated\(unsafe\)' -- $all 'Tests/*.swift' | while IFS=: read -r file line text; do
        sed -n "$((line > 3 ? line - 3 : 1)),${line}p" "$file" | grep -q '//' || echo "$file:$line:$text"
    done
}
report 'say in a comment why this is safe' < <(believed)

long() { # most lines allowed, pathspec...
    git ls-files -co --exclude-standard -- "${@:2}" | while read -r file; do
        [ ! -e "$file" ] || [ "$(wc -l <"$file")" -le "$1" ] || echo "$file:$(wc -l <"$file") lines"
    done
}
report 'one idea a file: at most 400 lines' < <(long 400 $all 'Tests/*.swift')
report 'a script says what it proves in under 60 lines' < <(long 59 'Scripts/*' 'Fuzz/*.sh' 'Benchmarks/*.sh')

report 'newer than the deployment targets: mend it, or ask for the version' < <(Scripts/availability.sh)
report 'the import is not allowed here' < <(Scripts/imports.sh)
report 'the documentation says something else than the code' < <(Scripts/documented.sh && Scripts/one-line.sh)

Scripts/rooms.sh || found=1
Scripts/prose.sh >/dev/null || found=1

[ $found -eq 0 ] || { echo "lint: the lines above break a house rule" >&2 && exit 1; }
echo "lint: nothing found"
