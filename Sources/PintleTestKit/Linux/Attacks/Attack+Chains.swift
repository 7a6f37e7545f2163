extension Attack {
    /// Certificates that the servers of the attack present.
    package struct Chain: Sendable {
        /// The place, such as `first` or `redirect`.
        package let place: String
        /// Each certificate as it is sent, in this order. The bytes need not be a certificate.
        package let certificates: [[UInt8]]
    }

    /// The certificates of all servers of the attack, those of the first connection first.
    package var chains: [Chain] {
        switch staging {
        case .server(let configuration): [Chain(place: "first", certificates: configuration.credential.chain)]
        case .redirect(let credential, _, let target):
            [
                Chain(place: "first", certificates: credential.chain),
                Chain(place: "redirect", certificates: target.chain),
            ]
        case .plainRedirect(let credential), .application(let credential, _):
            [Chain(place: "first", certificates: credential.chain)]
        case .coalescing(let credential, _, let right):
            [
                Chain(place: "first", certificates: credential.chain),
                Chain(place: "other-host", certificates: right.chain),
            ]
        case .challenge(let credential, let later), .move(_, let credential, let later):
            [Chain(place: "first", certificates: credential.chain), Chain(place: "later", certificates: later.chain)]
        }
    }
}
