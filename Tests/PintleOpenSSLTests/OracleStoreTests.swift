import Foundation
import Pintle
import PintleTestKit
import Testing

@Suite("Oracle: public roots")
struct OracleStoreTests {
    static let store = "/etc/ssl/certs/ca-certificates.crt"

    /// A script that prints a block for each certificate of a bundle: openssl's description, then the pin in
    /// hexadecimal.
    static let description = """
        awk -v d="$2" '/BEGIN CERT/ { n++ } n { print > sprintf("%s/%04d.pem", d, n) }' "$1"
        for file in "$2"/*.pem; do
            openssl x509 -in "$file" -noout -pubkey -fingerprint -sha256 -serial -dates -dateopt iso_8601 \
                -subject -issuer -nameopt esc_2253,esc_ctrl,utf8,dn_rev,sep_comma_plus_space,sname |
                tee "$2/info" | openssl pkey -pubin -outform DER | openssl dgst -sha256 -r | cut -c-64 > "$2/pin"
            grep = "$2/info" | grep -v '^[A-Za-z0-9+/]*=*$'
            printf 'pin=%s\\n' "$(cat "$2/pin")"
        done
        """

    private static func certificates(_ bundle: String) -> [[UInt8]] {
        bundle.split(separator: "-----BEGIN CERTIFICATE-----").dropFirst(0).compactMap { part in
            guard let end = part.range(of: "-----END") else { return nil }
            return Data(base64Encoded: part[..<end.lowerBound].filter { !$0.isWhitespace }).map(Array.init)
        }
    }

    @Test(
        "Every root of the system's store has the pin, fingerprint, names, dates and serial that openssl prints",
        .enabled(if: FileManager.default.fileExists(atPath: store), "no system store at \(store)"))
    func systemStore() throws {
        let files = try TemporaryDirectory()
        let result = try runProcess(
            ["bash", "-o", "pipefail", "-c", Self.description, "describe", Self.store, files.path], timeout: 120)
        let text = result.output
        let bundle = String(decoding: try Data(contentsOf: URL(fileURLWithPath: Self.store)), as: UTF8.self)
        var blocks: [[String: String]] = [[:]]
        for line in text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            blocks[blocks.count - 1][line[..<equals].lowercased()] = String(line[line.index(after: equals)...])
            if line.hasPrefix("pin=") { blocks.append([:]) }
        }
        let certificates = try Self.certificates(bundle).map { try Certificate(der: $0) }
        #expect(certificates.count > 50)
        #expect(blocks.count == certificates.count + 1)
        for (certificate, block) in zip(certificates, blocks) {
            #expect(Self.hex(certificate.publicKeyPin.bytes) == block["pin"])
            #expect(try CertificatePin(block["sha256 fingerprint"] ?? "") == certificate.fingerprint)
            #expect(certificate.subject.description == block["subject"].map(Self.joined))
            #expect(certificate.issuer.description == block["issuer"].map(Self.joined))
            #expect(Self.instant(certificate.validity.notBefore) == block["notbefore"])
            #expect(Self.instant(certificate.validity.notAfter) == block["notafter"])
            let serial = Self.hex(Array(certificate.serialNumber)).drop { $0 == "0" }
            #expect(serial == block["serial"]?.lowercased().drop { $0 == "0" })
        }
    }

    /// Removes the blanks that openssl prints around the plus between attributes of one set.
    private static func joined(_ name: String) -> String { name.replacingOccurrences(of: " + ", with: "+") }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    private static func instant(_ date: Date) -> String {
        date.ISO8601Format().replacingOccurrences(of: "T", with: " ")
    }

    @Test(
        "Mozilla's hashes equal the pins of Chromium's keys and certificates with the same names",
        .enabled(if: OracleChromiumTests.isPresent, "no test data beside the package"))
    func mozilla() throws {
        struct List: Decodable { let chromiumNameToSha256Base64: [String: String] }
        let data = try #require(SharedData.bytes("mozilla-pins.json"))
        let hashes = try OracleChromiumTests.decoder.decode(List.self, from: data).chromiumNameToSha256Base64
        let pins = try OracleChromiumTests.pins()
        let both = hashes.filter { pins[$0.key] != nil }
        #expect(both.count == 9)
        for (name, hash) in both { #expect(pins[name] == (try PublicKeyPin(hash)), "\(name)") }
    }
}
