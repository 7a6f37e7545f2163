internal import Foundation

/// One entry of `NSPinnedDomains` in an Info.plist. Members of a wrong type count as the system counts them.
struct PinnedDomain: Sendable {
    let name: String
    private let includesSubdomains: Bool
    /// The digests of each list that the entry has. A list without a digest that can be read is empty, not missing.
    private let digests: [List: [[UInt8]]]

    enum List: String, CaseIterable {
        case leaf = "NSPinnedLeafIdentities"
        case authority = "NSPinnedCAIdentities"
    }

    /// Returns `nil` for a value that is not a dictionary: the system passes over it.
    init?(_ name: String, _ value: Any) {
        guard let members = value as? [String: Any] else { return nil }
        self.name = name
        includesSubdomains = (members["NSIncludesSubdomains"] as? Bool) == true
        var digests: [List: [[UInt8]]] = [:]
        for list in List.allCases {
            guard let identities = members[list.rawValue] else { continue }
            digests[list] = (identities as? [Any] ?? []).compactMap { identity in
                ((identity as? [String: Any])?["SPKI-SHA256-BASE64"] as? String)
                    .flatMap { Data(base64Encoded: $0) }.flatMap { $0.isEmpty ? nil : Array($0) }
            }
        }
        self.digests = digests
    }

    /// Returns `true` if the entry has the name of the host, or that of the domain one label above it.
    private func covers(_ host: String) -> Bool {
        guard name.caseInsensitiveCompare(host) != .orderedSame else { return true }
        guard includesSubdomains, let dot = host.firstIndex(of: ".") else { return false }
        let parent = host[host.index(after: dot)...]
        return !parent.isEmpty && name.caseInsensitiveCompare(parent) == .orderedSame
    }

    /// Returns the digests of one list for a host, or `nil` if no entry that covers the host has that list. The lists
    /// of all entries that cover the host are added up.
    static func digests(_ list: List, for host: String, in domains: [PinnedDomain]) -> Set<[UInt8]>? {
        let host = host.hasSuffix(".") ? String(host.dropLast()) : host
        let found = domains.filter { $0.covers(host) }.compactMap { $0.digests[list] }
        return found.isEmpty ? nil : Set(found.joined())
    }
}
