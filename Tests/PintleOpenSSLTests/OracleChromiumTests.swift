import Foundation
import Pintle
import Testing

/// Compares a policy made from Chromium's list of pins with a naive reading of the list.
@Suite("Oracle: Chromium's list")
struct OracleChromiumTests {
    struct List: Decodable {
        struct Pinset: Decodable {
            let name: String
            let staticSpkiHashes: [String]
        }

        struct Entry: Decodable {
            let name: String
            let includeSubdomains: Bool?
            let pins: String
        }

        let pinsets: [Pinset]
        let entries: [Entry]
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    static var isPresent: Bool {
        SharedData.bytes("chromium-pins.json") != nil && SharedData.bytes("chromium-pins.pins") != nil
    }

    static func list() throws -> List {
        let text = String(decoding: SharedData.bytes("chromium-pins.json") ?? Data(), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
        return try Self.decoder.decode(List.self, from: Data(lines.joined(separator: "\n").utf8))
    }

    /// Returns the pins by name. Each is given as a certificate, a public key or a hash.
    static func pins() throws -> [String: PublicKeyPin] {
        let text = String(decoding: SharedData.bytes("chromium-pins.pins") ?? Data(), as: UTF8.self)
        var pins: [String: PublicKeyPin] = [:]
        var name = ""
        var body: String?
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("-----BEGIN") {
                body = ""
            } else if line.hasPrefix("-----END") {
                let der = try #require(Data(base64Encoded: body ?? "")).map { $0 }
                let isKey = line.contains("PUBLIC KEY")
                pins[name] = try isKey ? PublicKeyPin(subjectPublicKeyInfo: der) : Certificate(der: der).publicKeyPin
                body = nil
            } else if let part = body {
                body = part + line
            } else if line.hasPrefix("sha256/") {
                pins[name] = try PublicKeyPin(line)
            } else {
                name = String(line)
            }
        }
        return pins
    }

    /// Returns the entry for a host: its own, or else that of the longest parent that covers sub-domains.
    static func entry(for host: String, in entries: [String: List.Entry]) -> List.Entry? {
        if let entry = entries[host] { return entry }
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if let entry = entries[String(rest)], entry.includeSubdomains == true { return entry }
        }
        return nil
    }

    @Test(
        "Each host of the list, its sub-domains and similar names have the pins of the list",
        .enabled(if: isPresent, "no test data beside the package"))
    func policy() throws {
        let list = try Self.list()
        let keys = try Self.pins()
        var sets: [String: Set<PublicKeyPin>] = [:]
        for pinset in list.pinsets { sets[pinset.name] = Set(pinset.staticSpkiHashes.compactMap { keys[$0] }) }
        #expect(list.pinsets.allSatisfy { sets[$0.name]?.count == $0.staticSpkiHashes.count })
        let entries = Dictionary(uniqueKeysWithValues: list.entries.map { ($0.name, $0) })
        #expect(entries.count == 372)
        let policy = try PinningPolicy(
            hosts: try list.entries.map { entry in
                try PinnedHost(
                    entry.name, includingSubdomains: entry.includeSubdomains ?? false,
                    pins: (sets[entry.pins] ?? []).map { Pin(.publicKey($0)) }, backup: .noneAccepted)
            })
        #expect(policy.hosts.count == 372)

        var governed = 0
        for name in entries.keys {
            let parent = name.drop { $0 != "." }.dropFirst()
            let looksAlike = ["evil" + name, name + ".evil.test", "x-" + name, String(name.dropFirst())]
            for host in [name, "www." + name, "a.b.c." + name, String(parent)] + looksAlike {
                guard let server = try? ServerName(host) else { continue }
                let expected = Self.entry(for: host, in: entries)
                let rule = policy.rule(for: ServerEndpoint(host: server))
                #expect(rule?.host.description == expected?.name, "\(host)")
                #expect(rule?.isExact == expected.map { $0.name == host }, "\(host)")
                guard let rule, let expected else { continue }
                governed += 1
                let pins = policy.hosts[rule.index].pins.map(\.subject)
                #expect(Set(pins) == Set((sets[expected.pins] ?? []).map { Pin.Subject.publicKey($0) }), "\(host)")
            }
        }
        #expect(governed > 372)
    }
}
