#!/usr/bin/env bash
# Builds an outside package with the plug-in PintlePolicyCheck, with good and bad policies, runs the command of the plug-in
# PintlePins there, and type-checks the half for Xcode's projects against a stand-in of the module XcodeProjectPlugin.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
app=$folder/Sources/App policy=$folder/Sources/App/app.pintle.json
fail() { echo "plugin: $1" && cat "$folder/log" && exit 1; }

write() { # the plug-ins of the target
    mkdir -p "$app"
    cat >"$folder/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "outside", dependencies: [.package(name: "pintle", path: "$root")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [.product(name: "PintleURLSession", package: "pintle"), .product(name: "PintlePolicyFile", package: "pintle")],
            plugins: [$1])
    ])
END
}
build() { # the expected result, and the lines that the output has; `!` before a text that it lacks
    local wanted=$1 code=0 line
    shift
    # One folder for all, so that the package is compiled once; without sandbox, because a container may not have one.
    swift build --package-path "$folder" --scratch-path .build/plugin --disable-sandbox >"$folder/log" 2>&1 || code=$?
    [ "$code" = 0 ] && code=fine || code=failed
    [ "$code" = "$wanted" ] || fail "the build is $code, and should be $wanted"
    for line in "$@"; do
        case $line in
        !*) ! grep -qF -- "${line#!}" "$folder/log" || fail "this is printed: ${line#!}" ;;
        *) grep -qF -- "$line" "$folder/log" || fail "this is not printed: $line" ;;
        esac
    done
}
pin() { echo "sha256/$(head -c 32 /dev/urandom | base64)"; }

echo "== without the plug-in nothing is built for it"
write ''
echo 'print("Hello")' >"$app/main.swift"
build fine '!PintlePolicyChecker' '!PintlePolicyLint' '!PintleCLI' '!PintlePolicyTools'

echo "== no policy, and two"
write '.plugin(name: "PintlePolicyCheck", package: "pintle")'
build failed 'App has no policy'
echo '{}' >"$policy" && cp "$policy" "$app/other.pintle.json"
build failed 'App has another policy'
rm "$app/other.pintle.json"

echo "== bad policies: every problem at its place"
cat >"$policy" <<END
{ "version": 1, "hosts": [
  { "host": "api.example.org", "pins": ["$(pin)"] },
  { "host": "www.example.org", "pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="], "backupPins": ["$(pin)"],
    "expiry": {"after": "2020-01-01T00:00:00Z", "then": "reject"} },
  { "host": "root.example.org", "pins": ["$(pin)"], "backupPins": ["nothing"], "anchors": {"include": ["missing.pem"]} } ] }
END
build failed "$policy:2:41: error: hosts[0].backupPins: " '[no-backup-pin]' "$policy:3:41: error: hosts[1].pins[0]: " \
    "$policy:4:25: warning: hosts[1].expiry.after: " '[wrong-pin-length]' '[unreadable-anchor-file]'
printf '{ "version": 1, "hosts": [ { "host": "\xff" } ] }' >"$policy"
build failed "$policy:1:39: error: " '[invalid-utf8]'

echo "== a good policy is a constant, equal to the file"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$folder/key" -out "$app/root.pem" -days 3000 -subj /CN=Root \
    -addext basicConstraints=critical,CA:TRUE 2>/dev/null
cat >"$policy" <<END
{ "version": 1, "updateVersion": 3, "unpinnedHosts": "reject", "updates": {"anyHost": true}, "hosts": [
  { "host": "api.example.org", "port": 8443, "includeSubdomains": true, "pins": ["$(pin)", {"spki": "$(pin)", "at": "ca"}],
    "backupPins": ["$(pin)"], "expiry": {"after": "2099-12-20T00:00:00.5Z", "then": "reject"},
    "reportTo": ["https://reports.example.net/(pins)?a=%22"], "note": "\"*/" },
  { "host": "private.test", "pins": [{"certificate": "$(printf 'ab%.0s' {1..32})", "at": "ca"}], "backupPins": "none-accepted",
    "expiry": {"after": "2099-01-01T00:00:00Z", "then": "systemTrust"}, "anchors": {"include": ["root.pem"]} },
  { "host": "other.test", "anchors": {"include": ["root.pem"], "system": true}, "minimumPathLength": 3, "issuerKey": "$(pin)" },
  { "host": "192.0.2.7", "pins": [{"spki": "$(pin)", "at": "leaf"}, {"spki": "$(pin)", "at": "ca"}],
    "backupPins": [{"spki": "$(pin)", "at": "leaf"}], "requires": "leafAndCA", "enforcement": "reportOnly" } ] }
END
cat >"$app/main.swift" <<END
import Foundation
import Pintle
import PintlePolicyFile
import PintleURLSession
func content(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: "$app/" + name))) }
let (parsed, bundled) = (try PinningPolicy(json: content("app.pintle.json"), resolvingFile: content), try PinningPolicy.bundled)
let isEqual = parsed.hosts == bundled.hosts && parsed.unpinnedHosts == bundled.unpinnedHosts
// The file has a note, and the constant has none.
let lines = String(decoding: parsed.json(), as: UTF8.self).split(separator: "\n").filter { !\$0.contains("\"note\"") }
let session: URLSession = .pinned(to: try PinningPolicy.bundled) // as the article prints it
session.invalidateAndCancel()
exit(isEqual && lines.joined(separator: "\n") + "\n" == String(decoding: bundled.json(), as: UTF8.self) ? 0 : 1)
END
build fine 'warning: hosts[3].enforcement: '
.build/plugin/debug/App || fail "the constant differs from the file"

echo "== an unchanged policy is not checked again, a changed one is"
build fine '!Checking app.pintle.json'
touch "$app/root.pem"
build fine 'Checking app.pintle.json'

echo "== an anchor that the policy names later is watched, and one that is not of the target is refused"
cp "$policy" "$folder/policy" && cp "$app/root.pem" "$app/second.pem" && cp "$app/root.pem" "$folder/outside.pem"
build fine
sed -i 's/"root.pem"/"second.pem"/' "$policy"
build fine 'Checking app.pintle.json'
touch "$app/second.pem"
build fine 'Checking app.pintle.json'
sed -i 's#"second.pem"#"../../outside.pem"#' "$policy"
build failed '[unreadable-anchor-file]' 'not a file of this target'
cp "$folder/policy" "$policy" && rm "$app/second.pem"

echo "== strict"
echo '{"strict": true}' >"$app/pintle-check.json"
build failed 'error: hosts[3].enforcement: '
echo '{"strikt": true}' >"$app/pintle-check.json"
build failed "$app/pintle-check.json:1:2: error: only \"strict\" is known here"

echo "== the command finds the policies of all targets"
rm "$app/pintle-check.json"
pins() { # the expected exit code, a line of the output, and the words of the command
    local wanted=$1 line=$2 code=0
    shift 2
    swift package --package-path "$folder" --scratch-path .build/plugin --disable-sandbox pins "$@" >"$folder/log" 2>&1 || code=$?
    [ "$code" = "$wanted" ] || fail "pins $* ends with $code, and should with $wanted"
    grep -qF -- "$line" "$folder/log" || fail "this is not printed: $line"
}
pins 1 app.pintle.json lint
pins 0 sha256/ pin "$app/root.pem"
pins 1 'Plugin ended with exit code 2' pin "$folder/missing.pem" # SwiftPM itself ends with 1
pins 1 'swift package pins lint' show

echo "== the half for Xcode's projects"
plugins=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib/swift/pm/PluginAPI
swiftc -emit-module -module-name XcodeProjectPlugin -o "$folder/XcodeProjectPlugin.swiftmodule" -I "$plugins" \
    Tests/XcodeStandIn/*.swift
swiftc -typecheck -parse-as-library -warnings-as-errors -package-description-version 6.2.0 -I "$plugins" -I "$folder" Plugins/PintlePolicyCheck/*.swift
swiftc -typecheck -parse-as-library -warnings-as-errors -package-description-version 6.2.0 -I "$plugins" Plugins/PintlePins/*.swift
echo "plugin: the plug-in checks an outside package's policy"
