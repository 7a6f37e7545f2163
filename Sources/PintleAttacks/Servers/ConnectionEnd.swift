package import PintleTestKit

/// The end of a connection on which no byte of a request came.
package struct ConnectionEnd: Sendable, Hashable {
    package enum Manner: Sendable, Hashable {
        /// The client sent a fatal alert.
        case alert(UInt8)
        /// The client sent close_notify, or another warning.
        case closing
        /// The client ended its side without an alert.
        case finish
        /// The client closed its socket before it had read all of the server's bytes. So it may not have read the
        /// certificate.
        case unread
        /// The client's ClientHello does not offer the attack's version of TLS, or none of its ciphers.
        case unoffered
        /// The client ended its side before the server presented a certificate.
        case early
        /// The client became silent, and the server or the tool ended the connection.
        case silence
    }

    package let manner: Manner
    /// A Boolean value that indicates whether the client had sent its Finished message.
    package let isAfterFinished: Bool

    init(manner: Manner, isAfterFinished: Bool) { (self.manner, self.isAfterFinished) = (manner, isAfterFinished) }

    /// Reads the end from the record of a connection.
    package init(_ record: TLSConnectionRecord) {
        isAfterFinished = record.isHandshakeComplete
        let refusals: Set<UInt8> = [40, 70, 71]
        if let alert = record.alertsReceived.last(where: \.isFatal) {
            manner = .alert(alert.code)
        } else if record.wasGivenUp || record.handshakeFailure == StreamError.tooSlow.reason {
            manner = .silence
        } else if !record.isHandshakeComplete,
            record.alertsSent.contains(where: { $0.isFatal && refusals.contains($0.code) })
        {
            manner = .unoffered
        } else if !record.isHandshakeComplete, !record.hasPresented {
            manner = .early
        } else if !record.isHandshakeComplete, record.hasDroppedBytes {
            manner = .unread
        } else {
            manner = record.alertsReceived.isEmpty ? .finish : .closing
        }
    }

    /// A Boolean value that indicates whether this end is a refusal by itself: an alert about the certificate (RFC 8446
    /// section 6.2), or a ClientHello without what the attack needs.
    package var isRefusal: Bool {
        switch manner {
        case .alert(let code): LoopbackTLSServer.Alert(isFatal: true, code: code).refusesCertificate
        case .unoffered: true
        case .closing, .finish, .unread, .early, .silence: false
        }
    }
}

/// One run of a client at an attack, or one connection of a client that the user starts, that brought no request.
package struct Trial: Sendable {
    /// The ends of its connections to the attack.
    package var ends: Set<ConnectionEnd>
    /// A Boolean value that indicates whether every other connection that could have ended this one was answered.
    package var isAlone = true
    /// The longest time from a ClientHello to the end, in seconds.
    package var seconds = 0.0
    /// The end of the client; `nil` for one that the user starts.
    package var process: GuardedProcess.End?

    package init(
        _ ends: Set<ConnectionEnd>, isAlone: Bool = true, seconds: Double = 0, process: GuardedProcess.End? = nil
    ) {
        (self.ends, self.isAlone, self.seconds, self.process) = (ends, isAlone, seconds, process)
    }
}

/// The time from the first bytes of a connection to its end.
package struct ConnectionSpan: Sendable {
    let begin: ContinuousClock.Instant?
    let end: ContinuousClock.Instant?

    init(_ record: TLSConnectionRecord) { (begin, end) = (record.begin, record.end) }

    init(begin: ContinuousClock.Instant, end: ContinuousClock.Instant) { (self.begin, self.end) = (begin, end) }

    var seconds: Double {
        guard let begin, let end else { return 0 }
        return begin.duration(to: end) / .seconds(1)
    }

    /// Returns `true` if both connections were open at the same time.
    func overlaps(_ other: ConnectionSpan) -> Bool {
        guard let begin, let end, let otherBegin = other.begin, let otherEnd = other.end else { return false }
        return begin < otherEnd && otherBegin < end
    }
}
