internal import Pintle

/// Finds the update's rule for the host and port of a bundled rule, and the reverse. The tables are built lazily,
/// because few updates need them.
struct SuccessorNames {
    private let hosts: [PinnedHost]
    private let bundled: [PinnedHost]
    private lazy var indices = Self.table(hosts)
    private lazy var bundledIndices = Self.table(bundled)

    init(_ hosts: [PinnedHost], bundled: [PinnedHost]) {
        self.hosts = hosts
        self.bundled = bundled
    }

    mutating func index(of rule: PinnedHost) -> Int? { indices[rule.description] }

    /// Returns the bundled rule for the host and port of a rule of the update.
    mutating func bundledIndex(of rule: PinnedHost) -> Int? { bundledIndices[rule.description] }

    private static func table(_ hosts: [PinnedHost]) -> [String: Int] {
        Dictionary(zip(hosts.map(\.description), hosts.indices), uniquingKeysWith: { first, _ in first })
    }
}
