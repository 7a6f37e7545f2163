/// What the servers of an attack saw, so far or in all.
public struct AttackObservation: Sendable, Hashable {
    /// One for each connection to the server that the client was sent to, oldest first.
    public let connections: [TLSConnectionRecord]
    /// Request bytes, decrypted, that came to where the attack is: to the server that ``Attack/expectation`` is about, or
    /// where that server sent the client on, there.
    public let exposedByteCount: Int
    /// Whether the client came to where the attack is: to the first server, or was sent on by it.
    public let wasTried: Bool

    /// Request bytes at the first server.
    public var requestByteCount: Int { connections.reduce(0) { $0 + $1.requestByteCount } }

    /// Connections whose handshake the client finished.
    public var completedHandshakeCount: Int { connections.count { $0.isHandshakeComplete } }

    /// Whether there were connections and all are over. Without a request it is the client that has ended them.
    public var isOver: Bool { !connections.isEmpty && connections.allSatisfy(\.isClosed) }

    /// The last fatal alert from the client.
    public var alert: LoopbackTLSServer.Alert? { connections.flatMap(\.alertsReceived).last(where: \.isFatal) }
}
