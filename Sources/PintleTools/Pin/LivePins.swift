internal import Pintle
internal import PintleOpenSSL

/// The certificates of a live server. Sends it nothing, and does not depend on whether it is trusted.
struct LivePins {
    private let invocation: Invocation
    private let validator: PathValidator
    private let policy: PinningPolicy

    init(_ invocation: Invocation) throws(ToolError) {
        self.invocation = invocation
        validator = try invocation.validator()
        policy = try PinningPolicy.withoutRules()
    }

    /// - Parameter source: the word on the command line.
    func listing(of endpoint: ServerEndpoint, source: String) throws(ToolError) -> PinListing {
        let handshake = try LiveHandshake(endpoint, invocation)
        // Every certificate is accepted, to see whether the handshake succeeds. The connection is closed without a byte
        // of data.
        let outcome = handshake.run { _ in .accept }
        outcome.connection?.close()
        guard let presented = outcome.presented else {
            throw Self.failure(outcome.error, source: source)
        }
        let evaluation = policy.evaluate(
            endpoint, presented: presented, at: invocation.now, validate: validator.validate)
        if let error = outcome.error {
            invocation.console.warn("the handshake broke after the certificate: \(error.message)")
        }
        var failure: PathFailure?
        if case .rejected(let rejection) = evaluation.decision { failure = rejection.pathFailure }
        return PinListing(
            source: "\(endpoint)",
            entries: entries(PathPositions(path: evaluation.path, presented: presented)),
            server: PinListing.ServerFacts(
                endpoint: endpoint, failure: failure, protocolVersion: outcome.connection?.protocolVersion.description,
                address: outcome.connection?.peerAddress))
    }

    private func entries(_ positions: PathPositions) -> [PinEntry] {
        positions.places.compactMap { place in
            guard let certificate = place.certificate else {
                invocation.console.warn("a certificate that was sent (\(place.position)) cannot be read")
                return nil
            }
            let remark = place.position == "extra" ? "sent, not on the path: a pin of it would never match" : nil
            return PinEntry(
                position: place.position, item: .certificate(certificate), isSent: place.isSent,
                isOnPath: place.isOnPath, remark: remark)
        }
    }

    private static func failure(_ error: HandshakeError?, source: String) -> ToolError {
        guard let error else {
            return ToolError(
                exitCode: .unreachable, code: "no-certificate", message: "the server showed no certificate")
        }
        var failure = ToolError(error)
        // A certificate arrived, but it cannot be read.
        if !error.isBeforeCertificate { failure.exitCode = .unusable }
        if error.code == .nameNotResolved, !source.contains(":") {
            failure = ToolError(
                exitCode: .unreachable, code: failure.code,
                message: "\"\(source)\" is neither a file nor a host that resolves",
                hint: "for a file write ./\(source)")
        }
        return failure
    }
}
