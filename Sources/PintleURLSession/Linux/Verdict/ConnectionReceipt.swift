internal import COpenSSL
internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// The proof that the policy accepted a connection. The connection's `SSL` owns it.
///
/// It is the second gate. If a library, an option or a mistake ever lets a connection bypass the verifier, that
/// connection has no receipt, and libcurl sends no request over it.
final class ConnectionReceipt: Sendable {
    /// The decision, in the form that the app gets.
    let trust: TrustReceipt
    /// The serial number of the ``PolicyGeneration`` that decided.
    let serial: Int

    /// - Parameter isApproval: `false` only in a test of the second gate: the receipt then does not mention the
    ///   approval.
    init?(
        _ evaluation: TrustEvaluation, in generation: PolicyGeneration, at instant: Date, isApproval: Bool = true
    ) {
        let receipt = TrustReceipt(
            evaluation, by: generation.policy, generation: generation.snapshot.generation, at: instant)
        guard let receipt else { return nil }
        serial = generation.serial
        trust = isApproval ? receipt : receipt.withBasis(.hostNotPinned)
    }

    func allows(_ endpoint: ServerEndpoint, in generation: PolicyGeneration, at instant: Date) -> Bool {
        trust.endpoint == endpoint && serial == generation.serial && trust.validFrom <= instant
            && instant < trust.validUntil
    }
}

// MARK: On the connection

extension ConnectionReceipt {
    /// An index of Pintle's own, because libcurl uses the one of `SSL_get_app_data`.
    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil) {
        _, pointer, _, _, _, _ in
        guard let pointer else { return }
        Unmanaged<ConnectionReceipt>.fromOpaque(pointer).release()
    }

    /// Stores a reference in the connection. Returns `false` if OpenSSL has no memory.
    func attach(to ssl: OpaquePointer) -> Bool {
        let reference = Unmanaged.passRetained(self)
        if Self.index >= 0, SSL_set_ex_data(ssl, Self.index, reference.toOpaque()) == 1 { return true }
        reference.release()
        return false
    }

    /// Returns the receipt of a connection that the verifier has accepted, or `nil`.
    static func attached(to ssl: OpaquePointer) -> ConnectionReceipt? {
        guard index >= 0, VerificationHook.hasAccepted(ssl), let pointer = SSL_get_ex_data(ssl, index) else {
            return nil
        }
        return Unmanaged<ConnectionReceipt>.fromOpaque(pointer).takeUnretainedValue()
    }
}
