package import Pintle

/// The pins in an app's Info.plist, `NSPinnedDomains`. The system enforces them in the app whatever the policy says, so
/// no signed update can bring a key that is not among them.
package struct InfoPlistPins: Sendable {
    /// The pins for a host. A list without keys is one that the host does not have.
    package struct Entry: Sendable {
        package var includesSubdomains: Bool
        package var leaves: Set<PublicKeyPin>
        package var authorities: Set<PublicKeyPin>

        package init(includesSubdomains: Bool, leaves: Set<PublicKeyPin>, authorities: Set<PublicKeyPin>) {
            self.includesSubdomains = includesSubdomains
            self.leaves = leaves
            self.authorities = authorities
        }

        /// Returns whether a server that shows this key, and no other of the policy, is refused.
        func lacks(_ key: PublicKeyPin, at position: PinPosition) -> Bool {
            switch position {
            case .leaf: !leaves.isEmpty && !leaves.contains(key)
            case .ca: !authorities.isEmpty && !authorities.contains(key)
            case .any: !leaves.contains(key) && !authorities.contains(key)
            }
        }
    }

    /// The path of the file, for messages.
    package let file: String
    let entries: [ServerName: Entry]

    package init(file: String, entries: [ServerName: Entry]) {
        self.file = file
        self.entries = entries
    }

    /// Returns the pins for a host: those of its entry and those of the entry one label above, which the system adds
    /// up; `nil` if there is neither.
    func pins(for host: ServerName) -> Entry? {
        var parent: Entry?
        if host.labels.count > 1, let name = try? ServerName(host.labels.dropFirst().joined(separator: ".")),
            let entry = entries[name], entry.includesSubdomains
        {
            parent = entry
        }
        guard var entry = entries[host] else { return parent }
        entry.leaves.formUnion(parent?.leaves ?? [])
        entry.authorities.formUnion(parent?.authorities ?? [])
        return entry
    }

    /// Returns the lists of which the system refuses a server with these keys, `leaf` and `ca`; empty if it accepts it.
    ///
    /// - Parameter path: the keys of the path, leaf first; `nil` for one that no file can name.
    package func unmatchedLists(_ path: [PublicKeyPin?], of host: ServerName) -> [PinPosition] {
        guard let pins = pins(for: host) else { return [] }
        func has(_ key: PublicKeyPin?, _ list: Set<PublicKeyPin>) -> Bool { key.map(list.contains) ?? false }
        var lists: [PinPosition] = []
        if !pins.leaves.isEmpty, !has(path.first ?? nil, pins.leaves) { lists.append(.leaf) }
        if !pins.authorities.isEmpty, !path.dropFirst().contains(where: { has($0, pins.authorities) }) {
            lists.append(.ca)
        }
        return lists
    }
}
