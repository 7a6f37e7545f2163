internal import COpenSSL
internal import Pintle

/// A connection whose server certificate was accepted. It ends when it is released.
///
/// One thread at a time.
public final class TLSConnection {
    /// The version of TLS that both sides agreed on.
    public let protocolVersion: TLSVersion
    /// The suite's name in the standard: `TLS_AES_128_GCM_SHA256`.
    public let cipher: String
    /// What the server chose by ALPN, if anything.
    public let applicationProtocol: String?
    /// Where the bytes go, in numbers and without the port; the proxy, where there is one.
    public let peerAddress: String
    private let target: ServerEndpoint
    private var pump: TLSPump
    private var isClosed = false

    init(_ pump: consuming TLSPump, target: ServerEndpoint) throws(HandshakeError) {
        let ssl = pump.ssl
        guard let version = TLSVersion(rawValue: UInt16(clamping: SSL_version(ssl))) else {
            throw HandshakeError(.protocolVersion, "\(target) speaks no version of TLS that is acceptable")
        }
        protocolVersion = version
        cipher = SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? ""
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        applicationProtocol = name.flatMap { name in
            count == 0 ? nil : String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
        }
        peerAddress = pump.socket.peerAddress() ?? ""
        self.target = target
        self.pump = pump
    }

    /// Sends all of `bytes`.
    /// - Throws: `io-timeout`, `truncated` (the connection is gone), `tls-alert`, `tls-failed`.
    public func write(_ bytes: [UInt8], timeout: Duration = .seconds(5)) throws(HandshakeError) {
        let deadline = Deadline(after: timeout)
        var rest = bytes[...]
        // Piece by piece, so that no more than one record waits in memory for the network.
        while !rest.isEmpty {
            let piece = Array(rest.prefix(16_384))
            let sent = try run(until: deadline, timeout: timeout) { SSL_write($0, piece, CInt(piece.count)) } ?? 0
            rest = rest.dropFirst(Int(sent))
        }
    }

    /// Waits for application data and returns at most `limit` bytes of it; empty after close_notify.
    /// - Throws: `io-timeout`, `truncated`, `tls-alert`, `tls-failed`.
    public func read(max limit: Int = 16_384, timeout: Duration = .seconds(5)) throws(HandshakeError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(Swift.max(1, limit), 65_536))
        let count = try run(until: Deadline(after: timeout), timeout: timeout) { ssl in
            bytes.withUnsafeMutableBytes { SSL_read(ssl, $0.baseAddress, CInt($0.count)) }
        }
        bytes.removeLast(bytes.count - Int(count ?? 0))
        return bytes
    }

    /// Sends close_notify and ends our side. Does not wait for the peer's; reading goes on working.
    /// Takes a second at most, where the peer reads nothing.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        // 0 means "sent, not yet answered", which is the end here: turn it into a success.
        _ = try? pump.run(until: Deadline(after: .seconds(1))) { SSL_shutdown($0) >= 0 ? 1 : -1 }
        pump.socket.sendEnd()
    }

    deinit {
        close()
    }

    /// Nil after the peer's close_notify.
    private func run(
        until deadline: Deadline, timeout: Duration, _ operation: (OpaquePointer) -> CInt
    ) throws(HandshakeError) -> CInt? {
        do throws(PumpFailure) {
            return try pump.run(until: deadline, operation)
        } catch {
            switch error {
            case .closedByPeer: return nil
            case .timedOut:
                throw HandshakeError(
                    .ioTimeout, "\(target) did not answer within \(timeout.inSeconds)",
                    hint: "try again; the handshake itself went well", isBeforeCertificate: false
                )
            // The first bytes were TLS, or there would be no connection.
            case .notTLS: throw ended("with something that is not TLS")
            // Counted in the handshake only.
            case .tooMuch: throw ended("with more than was asked for")
            case .endOfStream: throw ended("without saying so (close_notify)")
            case .broken(let error): throw ended("unexpectedly: \(systemMessage(error))")
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
