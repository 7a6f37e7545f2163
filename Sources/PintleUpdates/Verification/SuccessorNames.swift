internal import Pintle

/// Finds the update's rule for the host and port of a bundled rule. The table is built lazily: few updates need it.
struct SuccessorNames {
    private let hosts: [PinnedHost]
    private lazy var indices = Dictionary(
        zip(hosts.map(\.description), hosts.indices), uniquingKeysWith: { first, _ in first })

    init(_ hosts: [PinnedHost]) {
        self.hosts = hosts
    }

    mutating func index(of rule: PinnedHost) -> Int? { indices[rule.description] }
}
