import Foundation
import Network
import Pintle
import Security

extension NWProtocolTLS.Options {
    /// Has a policy decide about the server of a connection of Network.framework's, in each handshake:
    ///
    ///     let options = NWProtocolTLS.Options()
    ///     options.decideTrust(of: server, by: policy)
    ///     let connection = NWConnection(host: "example.com", port: 443, using: NWParameters(tls: options))
    ///
    /// The verdict takes the place of the system's, and asks the system first as everywhere. No TLS session is resumed:
    /// a resumed one asks nobody. A connection that is refused fails with a TLS error; the observer hears why.
    ///
    /// - Parameters:
    ///   - server: the host and port that the connection is for. Nothing else says whom the app means.
    ///   - source: the policy, or what replaces it while it is in use; asked in each handshake.
    ///   - observer: is told of each verdict, on the thread that came to it.
    public func decideTrust(
        of server: ServerEndpoint, by source: some PolicySource,
        observer: @escaping @Sendable (TrustEvaluation) -> Void = { _ in }
    ) {
        sec_protocol_options_set_tls_resumption_enabled(securityProtocolOptions, false)
        sec_protocol_options_set_verify_block(
            securityProtocolOptions,
            { _, reference, complete in
                let question = HandshakeQuestion(reference: reference, complete: complete)
                TrustQueue.async {
                    let trust = sec_trust_copy_ref(question.reference).takeRetainedValue()
                    let evaluation = ServerTrustEvaluator(source.current).evaluate(server, trust, at: Date())
                    observer(evaluation)
                    question.complete(evaluation.decision.isTrusted)
                }
            }, TrustQueue.entrance)
    }
}

/// The question of a handshake about its server.
///
/// Sendable: the queue that takes the question hands it on and touches it no more.
private struct HandshakeQuestion: @unchecked Sendable {
    let reference: sec_trust_t
    let complete: sec_protocol_verify_complete_t
}
