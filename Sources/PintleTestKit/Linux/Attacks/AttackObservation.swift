/// The connections and bytes that the servers of an attack have received.
package struct AttackObservation: Sendable, Hashable {
    /// One record for each connection to the first server, oldest first.
    package let connections: [TLSConnectionRecord]
    /// The number of decrypted request bytes at the place of the attack: the first server, or the one that it redirected the
    /// client to. Bytes without TLS count at any of the servers.
    package private(set) var exposedByteCount: Int
    /// The number of those bytes that came without TLS: after a redirect to plain HTTP, or from a client that fell back to it.
    package private(set) var clearByteCount: Int
    /// A Boolean value that indicates whether the client reached the attack, or the response that redirects to it.
    package let wasTried: Bool
    /// A Boolean value that indicates whether a connection reached the attack. It differs from ``wasTried`` after a redirect.
    package let wasFollowed: Bool

    /// The number of the connection that decides, from 1: the first that exposed bytes, or else the last. Connections to the
    /// place of a redirect come after those to the first server.
    package var decisiveConnection: Int?

    /// Adds bytes that came to a proxy without TLS.
    package mutating func addClear(_ count: Int) {
        exposedByteCount += count
        clearByteCount += count
    }

    /// The number of request bytes at the first server.
    package var requestByteCount: Int { connections.reduce(0) { $0 + $1.requestByteCount } }

    /// The number of connections whose handshake the client finished.
    package var completedHandshakeCount: Int { connections.count { $0.isHandshakeComplete } }

    /// A Boolean value that indicates whether there were connections, and each has ended or got a response to every request.
    /// If there was no request, the client ended them.
    package var isOver: Bool { !connections.isEmpty && connections.allSatisfy { $0.isClosed || $0.isIdle } }

    /// A Boolean value that indicates whether the client ended every connection by an alert that refuses the certificate,
    /// and sent no byte of a request on any of them.
    package var refusedEveryCertificate: Bool {
        !connections.isEmpty && exposedByteCount == 0
            && connections.allSatisfy { connection in
                connection.requestByteCount == 0 && connection.clearByteCount == 0
                    && connection.alertsReceived.contains(where: \.refusesCertificate)
            }
    }

    /// The protocol that ALPN selected: `h2` if any connection used it, because some attacks need that, or else that of the
    /// first connection that has one.
    package var applicationProtocol: String? {
        let names = connections.compactMap(\.applicationProtocol)
        return names.first { $0 == "h2" } ?? names.first
    }

    /// The last fatal alert from the client.
    package var alert: LoopbackTLSServer.Alert? { connections.flatMap(\.alertsReceived).last(where: \.isFatal) }
}
