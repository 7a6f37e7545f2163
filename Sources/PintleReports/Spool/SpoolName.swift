internal import Pintle
internal import PintleCrypto

/// The name of a report's file. It holds everything that counting and choosing need, so that reports need not be
/// opened: `HOST-KEY-CREATED-NOTBEFORE-ID.report`.
package struct SpoolName: Sendable, Hashable {
    /// A hash of the requested host, 16 hexadecimal digits.
    package let host: String
    /// A hash that is equal for duplicates, 32 hexadecimal digits.
    package let key: String
    package let createdAt: Milliseconds
    /// The earliest time of sending. Ignored if the clock has since been set back before ``createdAt``.
    package let notBefore: Milliseconds
    /// 32 random hexadecimal digits, by which a collector detects a report that it already has.
    package let id: String

    static let suffix = ".report"

    init(host: String, key: String, createdAt: Milliseconds, notBefore: Milliseconds, id: String) {
        self.host = host
        self.key = key
        self.createdAt = createdAt
        self.notBefore = notBefore
        self.id = id
    }

    /// Parses a file's name; `nil` if the spool did not create it.
    package init?(_ text: String) {
        guard text.utf8.count <= 200, text.hasSuffix(Self.suffix) else { return nil }
        let parts = text.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 5, Self.isHex(parts[0], 16), Self.isHex(parts[1], 32), Self.isHex(parts[4], 32),
            let createdAt = Self.number(parts[2]), let notBefore = Self.number(parts[3])
        else { return nil }
        host = String(parts[0])
        key = String(parts[1])
        id = String(parts[4])
        self.createdAt = createdAt
        self.notBefore = notBefore
    }

    package var text: String { "\(host)-\(key)-\(createdAt)-\(notBefore)-\(id)\(Self.suffix)" }

    static func isHex(_ text: some StringProtocol, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 }
    }

    private static func number(_ text: Substring) -> Milliseconds? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Milliseconds(Int64(text))
    }

    /// Returns whether the report is due. Its addresses may still have to wait.
    func isDue(at now: Milliseconds) -> Bool { now >= notBefore || now < createdAt }
}

extension SpoolName {
    /// Creates the name for a report of a verdict. The key contains nothing that a server can choose.
    init(_ event: VerdictEvent, _ rule: MatchedRule, notBefore: Milliseconds) {
        let endpoint = event.endpoint
        self.init(
            host: Self.digest("host \(endpoint.host)", 16), key: Self.key(of: event, rule),
            createdAt: Milliseconds(event.instant), notBefore: notBefore, id: Self.randomID())
    }

    /// Returns the hash of host, port, rule, reason, generation and policy version. The version is included because the
    /// generation starts again in each process.
    static func key(of event: VerdictEvent, _ rule: MatchedRule) -> String {
        let parts = [
            "\(event.endpoint)", rule.pattern, event.reason, "\(event.generation)",
            "\(event.policy.updateVersion)",
        ]
        return digest(parts.joined(separator: " "), 32)
    }

    private static func digest(_ text: String, _ digits: Int) -> String {
        Hex.encode(SHA256Digest(hashing: Array(text.utf8)).bytes.prefix(digits / 2))
    }

    static func randomID() -> String { Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }
}
