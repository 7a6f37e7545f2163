internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleTLSClient

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
        if [.selfSigned, .untrustedRoot].contains(failure?.code), let text = invocation.missingRoots {
            invocation.console.warnOnce(text)
        }
        return PinListing(
            source: "\(endpoint)",
            entries: entries(PathPositions(path: evaluation.path, presented: presented), of: endpoint),
            server: PinListing.ServerFacts(
                endpoint: endpoint, failure: failure,
                ownAnchor: invocation.arguments.has(.anchors) ? evaluation.path?.certificates.last : nil,
                protocolVersion: outcome.connection?.protocolVersion.description,
                address: outcome.connection?.peerAddress))
    }

    private func entries(_ positions: PathPositions, of endpoint: ServerEndpoint) -> [PinEntry] {
        positions.places.compactMap { place in
            guard let certificate = place.certificate else {
                invocation.console.warn("a certificate that was sent (\(place.position)) cannot be read")
                return nil
            }
            let remark = place.position == "extra" ? remark(on: certificate, positions, of: endpoint) : nil
            return PinEntry(
                position: place.position, item: .certificate(certificate), isSent: place.isSent,
                isOnPath: place.isOnPath, remark: remark)
        }
    }

    /// The number of certificates beside the path for which other paths are tried. A server sends one or two.
    private static let mostExtras = 8

    /// Returns what a pin of a certificate beside the path would do. A cross-signed authority has several certificates,
    /// and the path needs only one of them.
    private func remark(on extra: Certificate, _ positions: PathPositions, of endpoint: ServerEndpoint) -> String {
        let key = extra.publicKeyPin
        if let place = positions.onPath.first(where: { $0.certificate?.publicKeyPin == key }) {
            return "sent, not on the path: its key is that of \(place.position), so a pin of the key matches"
        }
        var rule = PinnedHost(unchecked: endpoint.host)
        (rule.pins, rule.backupRequirement) = ([Pin(.publicKey(key))], .noneAccepted)
        let extras = positions.places.filter { $0.position == "extra" }.prefix(Self.mostExtras)
        if extras.contains(where: { $0.der == extra.der }), let policy = try? PinningPolicy(hosts: [rule]),
            case .trusted(.pinMatched) = policy.evaluate(
                endpoint, presented: positions.sent.map(\.der), at: invocation.now, validate: validator.validate
            ).decision
        {
            return "sent, not on this path: a pin of its key matches on another one"
        }
        return "sent, not on the path: a pin of it would never match"
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
