public import Dispatch

// The parts of Network.framework's options. Apple's are protocols over Objective-C objects.
public final class SecProtocolOptions {
    var verify: (queue: DispatchQueue, block: sec_protocol_verify_t)?
    public internal(set) var isResumptionEnabled = true

    public init() {}
}

public final class SecProtocolMetadata {}

public final class SecTrustReference {
    let trust: SecTrust

    init(_ trust: SecTrust) {
        self.trust = trust
    }
}

public typealias sec_protocol_options_t = SecProtocolOptions
public typealias sec_protocol_metadata_t = SecProtocolMetadata
public typealias sec_trust_t = SecTrustReference
public typealias sec_protocol_verify_complete_t = (Bool) -> Void
public typealias sec_protocol_verify_t = (
    sec_protocol_metadata_t, sec_trust_t, @escaping sec_protocol_verify_complete_t
) -> Void

public func sec_trust_copy_ref(_ trust: sec_trust_t) -> Unmanaged<SecTrust> { .passRetained(trust.trust) }

public func sec_protocol_options_set_verify_block(
    _ options: sec_protocol_options_t, _ verify_block: @escaping sec_protocol_verify_t,
    _ verify_block_queue: DispatchQueue
) {
    options.verify = (verify_block_queue, verify_block)
}

public func sec_protocol_options_set_tls_resumption_enabled(
    _ options: sec_protocol_options_t, _ tls_resumption_enabled: Bool
) {
    options.isResumptionEnabled = tls_resumption_enabled
}

extension SecProtocolOptions {
    /// Calls the verify block, as the handshake of a connection would, and waits for its answer. Returns `nil` if none
    /// was set.
    public func verify(_ trust: SecTrust) -> Bool? {
        guard let verify else { return nil }
        let question = Question(reference: SecTrustReference(trust), block: verify.block)
        let answer = Guarded<Bool?>(nil)
        let isAnswered = DispatchSemaphore(value: 0)
        verify.queue.async {
            question.block(SecProtocolMetadata(), question.reference) { isGood in
                answer.with { $0 = isGood }
                isAnswered.signal()
            }
        }
        guard isAnswered.wait(timeout: .now() + 60) == .success else { return nil }
        return answer.with { $0 }
    }

    /// `@unchecked`: the caller waits for the answer, and does not use the value meanwhile.
    private struct Question: @unchecked Sendable {
        let reference: SecTrustReference
        let block: sec_protocol_verify_t
    }
}
