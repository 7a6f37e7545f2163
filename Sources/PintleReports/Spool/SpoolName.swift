internal import Pintle
internal import PintleCrypto

/// What the name of a spooled report says, so that counting and choosing take no more than a look at the folder:
/// `HOST-KEY-CREATED-NOTBEFORE-ID.report`.
package struct SpoolName: Sendable, Hashable {
    /// Of the host that was asked for: 16 hexadecimal digits of a hash.
    package let host: String
    /// What makes two reports duplicates: 32 hexadecimal digits of a hash.
    package let key: String
    package let createdAt: Milliseconds
    /// Not sent before, and sent at once where the clock has since been set back beyond ``createdAt``.
    package let notBefore: Milliseconds
    /// 32 random hexadecimal digits, by which a collector knows a report that it has had already.
    package let id: String

    static let suffix = ".report"

    init(host: String, key: String, createdAt: Milliseconds, notBefore: Milliseconds, id: String) {
        self.host = host
        self.key = key
        self.createdAt = createdAt
        self.notBefore = notBefore
        self.id = id
    }

    /// `nil` for anything that the spool did not name.
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

    /// Due at this instant, as far as the report itself has a say.
    func isDue(at now: Milliseconds) -> Bool { now >= notBefore || now < createdAt }
}

extension SpoolName {
    /// Names a report about a failure. Nothing that a server chose is in the key.
    init(_ failure: TrustFailure, _ rule: MatchedRule, notBefore: Milliseconds) {
        let endpoint = failure.endpoint
        self.init(
            host: Self.digest("host \(endpoint.host)", 16), key: Self.key(of: failure, rule),
            createdAt: Milliseconds(failure.instant), notBefore: notBefore, id: Self.randomID())
    }

    /// Host, port, rule, reason and generation; the policy's version beside the latter, which a process counts anew.
    static func key(of failure: TrustFailure, _ rule: MatchedRule) -> String {
        let parts = [
            "\(failure.endpoint)", rule.pattern, failure.reason, "\(failure.generation)",
            "\(failure.policy.updateVersion)",
        ]
        return digest(parts.joined(separator: " "), 32)
    }

    private static func digest(_ text: String, _ digits: Int) -> String {
        Hex.encode(SHA256Digest(hashing: Array(text.utf8)).bytes.prefix(digits / 2))
    }

    static func randomID() -> String { Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }
}
