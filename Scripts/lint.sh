#!/usr/bin/env bash
# Checks the house rules that neither the compiler nor the formatter checks. Each `rule` has a message,
# a pattern and files. A line that ends in "// lint: <why>" is an exception with its reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
found=0
report() { # message; the offending lines come on standard input
    local line
    while IFS= read -r line; do echo "$line   <- $1" && found=1; done
}
lines() { git grep --untracked -nE "$@" | grep -vE '^[^:]*:[0-9]+: *//|// lint: ' || true; }
check() { # message, script that prints the offending lines; a script that fails is a finding too
    local text
    text=$("$2") || { echo "$2 failed" && found=1; }
    [ -z "$text" ] || report "$1" <<<"$text"
}
rule() { report "$1" < <(lines "$2" -- "${@:3}"); }

all='Sources/*.swift'
rule 'traps on input; throw or return a verdict' 'try!|as! |\b(fatalError|preconditionFailure|assertionFailure)\(' $all
rule 'traps on input; guard, then throw' '\b(precondition|assert)\(' $all
rule 'a bit pattern is not a conversion' '\bunsafeBitCast\(' $all
# Scripts/linkage.sh proves in the binaries that the core loads no Foundation, and which libraries the rest loads.
report 'the core imports only its hash, a lock and FoundationEssentials' < <(
    lines '^ *([a-z@_]+(\([A-Za-z]+\))? +)*import ' -- 'Sources/Pintle/*.swift' 'Sources/PintleCrypto/*.swift' |
        grep -vE 'import (PintleCrypto|Synchronization|FoundationEssentials|Foundation|COpenSSL|CryptoKit)$')
# The stand-ins' package builds the whole of PintleSystem, which Apple's systems have without its folder Linux.
rule 'Apple systems have no such type' '\b(Deadline|HangUpWatch|ProgramStart|StreamSocket)\b' 'Sources/PintlePolicyFile/*.swift' 'Sources/PintleEvents/*.swift' 'Sources/PintleResources/*.swift' 'Sources/PintleRemote/*.swift' 'Sources/PintleStorage/*.swift' 'Sources/PintleReports/*.swift' 'Sources/PintleUpdates/*.swift' 'Sources/PintleApple/*.swift' 'Sources/PintleURLSession/Apple/*.swift' 'Sources/PintleURLSession/Shared/*.swift'
# On a Mac these two modules have to build without OpenSSL, so commands get its answers from Libraries.
rule 'this half of the tool needs no OpenSSL' 'import (COpenSSL|CPublicSuffix|PintleAttacks|PintleOpenSSL|PintleSuffixes|PintleTLSClient|PintleTestKit)$' 'Sources/PintleConsole/*.swift' 'Sources/PintlePolicyTools/*.swift'
rule 'targets choose the platform, not the core' '#(else)?if .*\b(os|targetEnvironment)\(' 'Sources/Pintle/*.swift'
rule 'a library prints nothing' '(^|[^.[:alnum:]_])(print|debugPrint|dump)\(' $all ':!Sources/PintleCLI' ':!Sources/PintleConsole' ':!Sources/PintlePolicyChecker' ':!Sources/PintlePolicyTools' ':!Sources/PintleTools'
rule 'name the task of the type' '(class|struct|enum|actor|protocol) \w*(Manager|Helper|Util|SSL)\w* *[:{<]' $all
# A public function can only use public types. While these types are not public, no closure of an app can bypass a policy.
rule 'a closure can trust everyone: only a policy may judge a server' '(public|open) (enum|struct|class|protocol|typealias) (HandshakeVerdict|PeerChain)\b' 'Sources/PintleOpenSSL/*.swift'
rule 'an error must not send people to a session without a policy' '"[^"]*\bURLSession(\.shared|\(configuration)' $all
rule 'finish this open task' '\b(TODO|FIXME|XXX)\b' $all 'Tests/*.swift' 'Fuzz/*.swift'
rule 'give the condition under which it runs' '\.disabled\(\)' 'Tests/*.swift'
rule 'a test that is commented out' '^ *// *@Test' 'Tests/*.swift'

# The formatter breaks code at 120 columns, but no comment and no literal. The tables of the tests have longer literals.
long() {
    git grep --untracked -nE '^.{121}' -- '*.swift' | grep -E '^Sources/|^[^:]*:[0-9]+: *//' | grep -v '// lint: ' || true
}
report 'longer than 120 columns' < <(long)
# A reason is spelled once, in TrustDecision.Reason, so that a renamed one breaks the build where it is compared.
reasons=$(sed -n '/enum Reason/,/^    }/s/.*case [a-zA-Z]* = "\(.*\)"/\1/p' Sources/Pintle/Decision/TrustDecision.swift | paste -sd '|')
rule 'use a case of TrustDecision.Reason, not its text' "\"(${reasons:-.*})\"" $all 'Benchmarks/*.swift' \
    ':!Sources/Pintle/Decision/TrustDecision.swift'

# A declaration that the compiler cannot check has a comment at most three lines above that says why it is safe.
believed() {
    lines '@unchecked Sendable|nonisolated\(unsafe\)' -- $all 'Tests/*.swift' | while IFS=: read -r file line text; do
        sed -n "$((line > 3 ? line - 3 : 1)),${line}p" "$file" | grep -q '//' || echo "$file:$line:$text"
    done
}
report 'say in a comment why this is safe' < <(believed)

check 'the documentation differs from the code' Scripts/documented.sh

# An app that depends on the package by path gets SwiftPM's warnings in each build: about an exclude that names a missing file, for
# example. In an app's build a warning of a later compiler must not be an error.
manifest() {
    local package
    for package in . Tests/StandIns Tests/Darwin; do
        swift package --package-path $package --scratch-path .build/manifest describe 2>&1 >/dev/null
    done
    [ "$(warnings_as_errors 1)" -gt 0 ] || echo "Package.swift: PINTLE_WARNINGS_AS_ERRORS=1 has no effect"
    [ "$(warnings_as_errors 0)" -eq 0 ] || echo "Package.swift: warnings are errors for apps too"
}
warnings_as_errors() { PINTLE_WARNINGS_AS_ERRORS=$1 swift package --scratch-path .build/manifest dump-package | grep -c treatAllWarnings || true; }
check 'Package.swift must not warn' manifest

Models/vectors.py --check || found=1
Scripts/rooms.sh || found=1
Scripts/doors.py check || found=1
Scripts/prose.sh >/dev/null || found=1

[ $found -eq 0 ] || { echo "lint: the lines above break a house rule" >&2 && exit 1; }
echo "lint: nothing found"
