/// What the servers of an attack saw, so far or in all.
public struct AttackObservation: Sendable, Hashable {
    /// One for each connection to the server that the client was sent to, oldest first.
    public let connections: [TLSConnectionRecord]
    /// Request bytes, decrypted, that came to where the attack is: to the server that ``Attack/expectation`` is about, or
    /// where that server sent the client on, there. What came to any of them in the clear is counted with them.
    public let exposedByteCount: Int
    /// How many of those came without TLS: over plain HTTP after a redirect, or to a server of TLS, from a client that
    /// falls back.
    public let clearByteCount: Int
    /// Whether the client came to where the attack is: to the first server, or was sent on by it.
    public let wasTried: Bool
    /// Whether, where the attack is not at the first server, a connection came to where it is.
    package let wasFollowed: Bool

    /// Request bytes at the first server.
    public var requestByteCount: Int { connections.reduce(0) { $0 + $1.requestByteCount } }

    /// Connections whose handshake the client finished.
    public var completedHandshakeCount: Int { connections.count { $0.isHandshakeComplete } }

    /// Whether there were connections and all are over. Without a request it is the client that has ended them.
    public var isOver: Bool { !connections.isEmpty && connections.allSatisfy(\.isClosed) }

    /// A Boolean value that indicates whether the client ended every connection by an alert that refuses the certificate,
    /// and sent no byte of a request on any of them.
    package var refusedEveryCertificate: Bool {
        !connections.isEmpty && exposedByteCount == 0
            && connections.allSatisfy { connection in
                connection.requestByteCount == 0 && connection.clearByteCount == 0
                    && connection.alertsReceived.contains(where: \.refusesCertificate)
            }
    }

    /// The last fatal alert from the client.
    public var alert: LoopbackTLSServer.Alert? { connections.flatMap(\.alertsReceived).last(where: \.isFatal) }
}
