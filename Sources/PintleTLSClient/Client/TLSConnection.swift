internal import COpenSSL
internal import Pintle
package import PintleOpenSSL
internal import PintleStorage
internal import PintleSystem

/// A connection whose server certificate was accepted. Releasing it closes the connection.
///
/// Not thread-safe: use it on one thread at a time.
package final class TLSConnection {
    /// The negotiated version of TLS.
    package let protocolVersion: TLSVersion
    /// The parameters that both sides agreed on.
    package let tls: NegotiatedTLS
    /// The protocol that the server chose by ALPN; `nil` without one.
    package let applicationProtocol: String?
    /// The numeric address of the TCP peer without the port. With a proxy, it is the proxy's address.
    package let peerAddress: String
    private let target: ServerEndpoint
    private var pump: TLSPump
    private var isClosed = false

    init(_ pump: consuming TLSPump, target: ServerEndpoint) throws(HandshakeError) {
        let ssl = pump.ssl
        guard let version = TLSVersion(rawValue: UInt16(clamping: SSL_version(ssl))) else {
            throw HandshakeError(.protocolVersion, "\(target) speaks no version of TLS that is acceptable")
        }
        protocolVersion = version
        tls = NegotiatedTLS(on: ssl)
        applicationProtocol = NegotiatedTLS.applicationProtocol(on: ssl)
        peerAddress = pump.socket.peerAddress() ?? ""
        self.target = target
        self.pump = pump
    }

    /// Sends all of `bytes`.
    ///
    /// - Parameters:
    ///   - bytes: the application data.
    ///   - timeout: the time limit of the whole call.
    /// - Throws: `io-timeout`, `truncated` (the connection is gone), `tls-alert`, `tls-failed`. After an error, the
    ///   connection is of no use.
    package func write(_ bytes: [UInt8], timeout: Duration = .seconds(5)) throws(HandshakeError) {
        let deadline = Deadline(after: timeout)
        var rest = bytes[...]
        // In pieces, so that at most one record is buffered in memory.
        while !rest.isEmpty {
            let piece = Array(rest.prefix(16_384))
            let sent = try run(until: deadline, timeout: timeout) { SSL_write($0, piece, CInt(piece.count)) } ?? 0
            rest = rest.dropFirst(Int(sent))
        }
    }

    /// Waits for application data and returns at most `limit` bytes of it; empty after close_notify.
    ///
    /// - Parameters:
    ///   - limit: the most bytes to return.
    ///   - timeout: the time limit of the call.
    /// - Returns: the data; empty after close_notify.
    /// - Throws: `io-timeout`, `truncated`, `tls-alert`, `tls-failed`.
    package func read(max limit: Int = 16_384, timeout: Duration = .seconds(5)) throws(HandshakeError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(Swift.max(1, limit), 65_536))
        let count = try run(until: Deadline(after: timeout), timeout: timeout) { ssl in
            bytes.withUnsafeMutableBytes { SSL_read(ssl, $0.baseAddress, CInt($0.count)) }
        }
        bytes.removeLast(bytes.count - Int(count ?? 0))
        return bytes
    }

    /// Waits for the end of the connection. In TLS 1.3, a server can refuse the client's certificate only after the
    /// handshake.
    ///
    /// - Returns: the reason of the end; `nil` if the server sends data, or nothing within the time-out.
    package func awaitEnd(timeout: Duration) -> HandshakeError? {
        do throws(HandshakeError) {
            _ = try read(max: 1, timeout: timeout)
            return nil
        } catch {
            return error.code == .ioTimeout ? nil : error
        }
    }

    /// Sends close_notify and closes the sending side. Does not wait for the peer's close_notify; `read` still works.
    /// Takes at most one second if the peer reads nothing.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        // `SSL_shutdown` returns 0 for "sent, not yet answered". That is enough here, so report it as success.
        _ = try? pump.run(until: Deadline(after: .seconds(1))) { SSL_shutdown($0) >= 0 ? 1 : -1 }
        pump.socket.sendEnd()
    }

    deinit {
        close()
    }

    /// Runs an OpenSSL call; returns `nil` after the peer's close_notify.
    private func run(
        until deadline: Deadline, timeout: Duration, _ operation: (OpaquePointer) -> CInt
    ) throws(HandshakeError) -> CInt? {
        do throws(PumpError) {
            return try pump.run(until: deadline, operation)
        } catch {
            switch error {
            case .closedByPeer: return nil
            case .timedOut:
                throw HandshakeError(
                    .ioTimeout, "\(target) did not answer within \(timeout.inSeconds)",
                    hint: "try again; the handshake itself went well", isBeforeCertificate: false
                )
            // Cannot happen: the handshake began with TLS records.
            case .notTLS: throw ended("with something that is not TLS")
            // Cannot happen: only the handshake has an allowance.
            case .tooMuch: throw ended("with more than was asked for")
            case .endOfStream: throw ended("without saying so (close_notify)")
            case .broken(let error): throw ended("unexpectedly: \(Descriptor.errorText(error))")
            case .library(let errors):
                let alert = errors.peerAlert.map(TLSAlert.name)
                throw HandshakeError(
                    alert == nil ? .tlsFailed : .tlsAlert,
                    alert.map { "\(target) ended the connection with the alert \($0)" }
                        ?? "TLS with \(target) failed: \(errors.summary)",
                    hint: "look at the server's log", isBeforeCertificate: false, alert: alert
                )
            }
        }
    }

    private func ended(_ how: String) -> HandshakeError {
        HandshakeError(
            .truncated, "\(target) ended the connection \(how)", hint: "look at the server's log",
            isBeforeCertificate: false
        )
    }
}
