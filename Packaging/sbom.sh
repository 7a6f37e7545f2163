#!/usr/bin/env bash
# Prints the software bill of materials of a Debian package: SPDX 2.3 as JSON, with the tool, the libraries that it contains
# and the packages that it loads. Nothing in it depends on the time or place of the run. usage: sbom.sh PACKAGE.deb TOOL
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
package=$1 tool=$2
sum() { "$1sum" "$2" | cut -d' ' -f1; }
swift=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -1)

# One line each: the name, the SPDX licence. All of them come with the Swift toolchain, and have no version of their own in it.
contained='Swift standard library and runtime	Apache-2.0 WITH Swift-exception
LLVM support library	Apache-2.0 WITH LLVM-exception
FoundationEssentials	Apache-2.0 WITH Swift-exception AND BSD-3-Clause
swift-collections	Apache-2.0 WITH Swift-exception
libdispatch	Apache-2.0 WITH Swift-exception'

jq -n -S --arg file "$(basename "$package")" --arg version "$(dpkg-deb -f "$package" Version)" \
    --arg architecture "$(dpkg-deb -f "$package" Architecture)" --arg depends "$(dpkg-deb -f "$package" Depends)" \
    --arg system "$(. /etc/os-release && echo "$ID")" --arg created "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" --arg swift "$swift" --arg contained "$contained" \
    --arg packageSHA256 "$(sum sha256 "$package")" --arg toolSHA1 "$(sum sha1 "$tool")" --arg toolSHA256 "$(sum sha256 "$tool")" '
    def id: "SPDXRef-" + gsub("[^A-Za-z0-9.]+"; "-");
    def related($from; $kind; $to): {spdxElementId: $from, relationshipType: $kind, relatedSpdxElement: $to};
    def unknown: {downloadLocation: "NOASSERTION", filesAnalyzed: false, licenseConcluded: "NOASSERTION", copyrightText: "NOASSERTION"};
    ($contained | split("\n") | map(split("\t") | {name: .[0], license: .[1]})) as $inside
    | ($depends | split(", ") | map(capture("^(?<name>[^ ]+)( \\((?<least>[^)]+)\\))?$"))) as $loaded
    | {
        spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", name: $file,
        documentNamespace: "https://spdx.org/spdxdocs/pintle-\($version)-\($packageSHA256)",
        creationInfo: {created: $created, creators: ["Tool: Packaging/sbom.sh"]},
        files: [{
            SPDXID: "SPDXRef-tool", fileName: "./usr/bin/pintle", fileTypes: ["BINARY"],
            licenseConcluded: "Apache-2.0 AND (Apache-2.0 WITH Swift-exception) AND (Apache-2.0 WITH LLVM-exception) AND BSD-3-Clause", copyrightText: "NOASSERTION",
            checksums: [{algorithm: "SHA1", checksumValue: $toolSHA1}, {algorithm: "SHA256", checksumValue: $toolSHA256}]
        }],
        packages: ([unknown + {
            SPDXID: "SPDXRef-pintle", name: "pintle", versionInfo: $version, packageFileName: $file,
            primaryPackagePurpose: "APPLICATION", licenseDeclared: "Apache-2.0",
            checksums: [{algorithm: "SHA256", checksumValue: $packageSHA256}],
            externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl",
                referenceLocator: "pkg:deb/\($system)/pintle@\($version | @uri)?arch=\($architecture)"}]
        }] + ($inside | map(unknown + {
            SPDXID: (.name | id), name, licenseDeclared: .license, primaryPackagePurpose: "LIBRARY",
            comment: "of the toolchain of Swift \($swift)"
        })) + ($loaded | map(unknown + {
            SPDXID: (.name | id), name, licenseDeclared: "NOASSERTION", primaryPackagePurpose: "LIBRARY",
            comment: "loaded when the tool starts; the distribution supplies it, version \(.least // "any")",
            externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: "pkg:deb/\($system)/\(.name | @uri)"}]
        }))),
        relationships: ([related("SPDXRef-DOCUMENT"; "DESCRIBES"; "SPDXRef-pintle"), related("SPDXRef-DOCUMENT"; "DESCRIBES"; "SPDXRef-tool")]
            + ($inside | map(related("SPDXRef-pintle"; "STATIC_LINK"; .name | id)))
            + ($loaded | map(related("SPDXRef-pintle"; "DYNAMIC_LINK"; .name | id))))
    }'
