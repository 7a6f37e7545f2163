public import Foundation
public import FoundationNetworking
public import Pintle
public import PintleEvents
public import PintleOpenSSL

extension URLSession {
    /// Returns a session that checks every server against a policy, and can authenticate the client with a certificate
    /// (mutual TLS). Only on Linux.
    ///
    ///     let session = URLSession.pinned(to: policy) { server in
    ///         server == api ? identity : nil
    ///     }
    ///
    /// A server that asks gets the certificate, and a signature of its key, within the handshake and after the verdict.
    /// The verdict has to rest on a matching pin, or on an anchor that the rule brings. It gets nothing if trust rests
    /// on the system's authorities, on expired pins, on a mismatch that is only reported or on debug anchors. A server
    /// that the user has approved gets it only with ``/PintleOpenSSL/ClientIdentity/isOfferedToApprovedServers``.
    ///
    /// If a server requires a certificate and got none, the task fails with a ``SessionError`` of the code
    /// `client-certificate-required`, which says why and what the server accepts.
    /// `URLResponse.clientCertificateUse` says what the server got.
    ///
    /// Two identities never share a connection, and a task that gets another identity opens another connection.
    ///
    /// - Parameters:
    ///   - source: The policy, or a source that can replace its policy.
    ///   - configuration: The configuration. The session uses a copy without the classes in `protocolClasses`.
    ///   - delegate: The delegate, as with `URLSession`.
    ///   - delegateQueue: The queue, as with `URLSession`; `nil` for a serial queue of the session's own.
    ///   - observer: An observer of refusals and of client certificates outside their dates.
    ///   - identity: Returns the client's identity for a host and port; `nil` for none. It is called on one
    ///     serial queue for all servers: before each `https` request, redirect and answer to a challenge, and again
    ///     after a policy change or a refusal of streamed content. It must return soon and not wait for a request of
    ///     this session, because the other requests wait for it.
    public static func pinned(
        to source: some PolicySource,
        configuration: URLSessionConfiguration = .default, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil, observer: (any TrustEventObserver)? = nil,
        identity: @escaping @Sendable (_ server: ServerEndpoint) -> ClientIdentity?
    ) -> PinnedURLSession {
        PinnedURLSession(
            source: source, configuration: configuration, delegate: delegate,
            delegateQueue: delegateQueue, observer: observer, identity: identity)
    }
}
