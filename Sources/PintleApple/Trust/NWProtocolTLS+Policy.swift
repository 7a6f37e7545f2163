import Foundation
import Network
import Pintle
import Security

extension NWProtocolTLS.Options {
    /// Checks the server of a connection of Network.framework against a policy, in each handshake:
    ///
    ///     let options = NWProtocolTLS.Options()
    ///     options.decideTrust(of: server, by: policy)
    ///     let connection = NWConnection(host: "example.com", port: 443, using: NWParameters(tls: options))
    ///
    /// The verdict replaces the system's. As everywhere, it includes the system's own validation. TLS sessions are not
    /// resumed, because a resumed session has no handshake that could be checked. A refused connection fails with a TLS
    /// error, and the observer gets the reason.
    ///
    /// - Parameters:
    ///   - server: The host and port of the connection. Network.framework does not report them to the handshake.
    ///   - source: The policy, or a source that can replace it; asked in each handshake.
    ///   - observer: A closure that gets each verdict, on the thread that evaluated it.
    public func decideTrust(
        of server: ServerEndpoint, by source: some PolicySource,
        observer: @escaping @Sendable (TrustEvaluation) -> Void = { _ in }
    ) {
        decideTrust(of: server, by: ServerTrustEvaluator(source: source), observer)
    }

    /// Checks the server of a connection by an evaluator, whose handlers get the failures:
    ///
    ///     options.decideTrust(of: server, by: ServerTrustEvaluator(source: policy).observed(by: reporter))
    ///
    /// - Parameters:
    ///   - server: The host and port of the connection. Network.framework does not report them to the handshake.
    ///   - evaluator: The evaluator, asked in each handshake.
    public func decideTrust(of server: ServerEndpoint, by evaluator: ServerTrustEvaluator) {
        decideTrust(of: server, by: evaluator) { _ in }
    }

    private func decideTrust(
        of server: ServerEndpoint, by evaluator: ServerTrustEvaluator,
        _ observer: @escaping @Sendable (TrustEvaluation) -> Void
    ) {
        sec_protocol_options_set_tls_resumption_enabled(securityProtocolOptions, false)
        sec_protocol_options_set_verify_block(
            securityProtocolOptions,
            { _, reference, complete in
                let question = HandshakeQuestion(reference: reference, complete: complete)
                TrustQueue.async {
                    let trust = sec_trust_copy_ref(question.reference).takeRetainedValue()
                    let evaluation = evaluator.evaluate(server, trust, at: Date())
                    observer(evaluation)
                    question.complete(evaluation.decision.isTrusted)
                }
            }, TrustQueue.entrance)
    }
}

/// The data of a handshake about its server.
///
/// Sendable: the queue that receives it passes it on and does not use it any more.
private struct HandshakeQuestion: @unchecked Sendable {
    let reference: sec_trust_t
    let complete: sec_protocol_verify_complete_t
}
