internal import Pintle
internal import PintlePolicyFile
internal import PintleStorage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The history of fetches that outlives the process. No decision depends on it: if it is lost, the app sends one
/// request too many.
struct FetchRecord: Sendable, Hashable {
    var history = UpdateSchedule.History()
    /// The app's random position in the interval between two fetches, 0 to 1.
    var phase: Double
    /// The entity tags of the update in force, by URL.
    var entityTags: [String: String] = [:]
    /// The version of the update to which the tags belong.
    var version = 0

    init() {
        phase = Double.random(in: 0..<1)
    }

    static let maximumBytes = 64 << 10

    init(_ file: DurableFile) {
        self.init()
        guard let bytes = try? file.read()?.bytes,
            let root = try? JSONDocument(bytes, limits: .init(maximumBytes: Self.maximumBytes)).root
        else { return }
        func date(_ key: StaticString) -> Date? { root[key]?.string.flatMap { try? RFC3339.date(from: $0) } }
        history.lastAttempt = date("lastAttempt")
        history.lastSuccess = date("lastSuccess")
        history.failures = root["failures"]?.integer.map { Int(clamping: min(max($0, 0), 1_000)) } ?? 0
        if let millionths = root["phase"]?.integer, 0..<1_000_000 ~= millionths { phase = Double(millionths) / 1e6 }
        version = root["version"]?.integer.map { Int(clamping: $0) } ?? 0
        for member in root["entityTags"]?.members?.prefix(16).map(\.self) ?? [] {
            guard let tag = member.value.string, EntityTag.isOne(tag) else { continue }
            entityTags[member.key.string ?? ""] = tag
        }
    }

    /// Writes the record. Ignores errors.
    func write(to file: DurableFile) {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("lastAttempt", history.lastAttempt.map { RFC3339.string(from: $0) })
            json.member("lastSuccess", history.lastSuccess.map { RFC3339.string(from: $0) })
            json.member("failures", history.failures)
            json.member("phase", Int(phase * 1e6))
            json.member("version", version)
            json.object("entityTags") { json in
                for (url, tag) in entityTags.sorted(by: { $0.key < $1.key }) { json.member(url, tag) }
            }
        }
        guard let lock = try? file.lock(patience: 0) else { return }
        try? file.write(json.bytes, under: lock)
    }
}

/// A check of `ETag` values (RFC 9110 section 8.8.3).
enum EntityTag {
    /// Longer tags cost more than they save.
    private static let maximumBytes = 256

    /// Returns whether a text is exactly one entity tag.
    ///
    /// Any other text must not be sent as `If-None-Match`. With `*`, every server answers "not modified". A list may
    /// contain the tags of future documents. With a control character the request fails. Each of these would block
    /// updates long after the attacker who sent the value is gone.
    static func isOne(_ text: String) -> Bool {
        guard text.utf8.count <= maximumBytes else { return false }
        let opaque = text.hasPrefix("W/") ? text.utf8.dropFirst(2) : text.utf8[...]
        guard opaque.count >= 2, opaque.first == UInt8(ascii: "\""), opaque.last == UInt8(ascii: "\"") else {
            return false
        }
        return opaque.dropFirst().dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }
    }
}
