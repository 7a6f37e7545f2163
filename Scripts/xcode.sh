#!/usr/bin/env bash
# Proves on a Mac that Xcode builds each library for a system, or that the tests pass there. Written without access to a Mac.
# usage: xcode.sh build DESTINATION    such as generic/platform=iOS
#        xcode.sh test SYSTEM          such as "iOS Simulator" or macOS; on a simulator of its newest runtime
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -eq 2 ] || { sed -n '3,4s/^# *//p' "$0" >&2; exit 2; }
options=(-derivedDataPath .build/xcode)

# Prints the products that are libraries. PintleNIO needs a trait, so `swift build --traits NIO` builds it.
libraries() {
    swift package dump-package | python3 -c '
import json, sys
for product in json.load(sys.stdin)["products"]:
    if "library" in product["type"] and product["name"] != "PintleNIO":
        print(product["name"])'
}

# Prints the destination of the first available simulator with the newest runtime of a system.
simulator() { # iOS
    xcrun simctl list devices available --json | python3 -c '
import json, re, sys
runtimes = json.load(sys.stdin)["devices"]
found = []
for name, devices in runtimes.items():
    version = re.fullmatch(r"com\.apple\.CoreSimulator\.SimRuntime\." + sys.argv[1] + r"-([0-9-]+)", name)
    if version and devices:
        found.append(([int(part) for part in version[1].split("-")], devices[0]["udid"]))
if not found:
    sys.exit("xcode: error: no simulator of " + sys.argv[1])
print(max(found)[1])' "$1"
}

case $1 in
build)
    schemes=$(libraries)
    [ -n "$schemes" ] || { echo "xcode: error: the package has no library" >&2; exit 1; }
    for scheme in $schemes; do
        echo "== $scheme for $2"
        xcodebuild build -quiet -scheme "$scheme" -destination "$2" "${options[@]}" CODE_SIGNING_ALLOWED=NO
    done ;;
test)
    case $2 in
    "visionOS Simulator") destination="platform=$2,id=$(simulator xrOS)" ;;
    *" Simulator") destination="platform=$2,id=$(simulator "${2% Simulator}")" ;;
    "Mac Catalyst") destination="platform=macOS,variant=Mac Catalyst" ;;
    *) destination="platform=$2" ;;
    esac
    xcodebuild test -scheme pintle-Package -destination "$destination" -resultBundlePath .build/xcode/results.xcresult \
        "${options[@]}" ;;
*) echo "xcode: error: $1 is neither build nor test" >&2 && exit 2 ;;
esac
