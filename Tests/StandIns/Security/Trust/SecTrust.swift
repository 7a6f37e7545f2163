public import Foundation

/// The input of an evaluation, and its result. Not `Sendable`: Apple's releases differ on this, and not `Sendable` is
/// stricter.
public final class SecTrust {
    let presented: [SecCertificate]
    var policies: [SecPolicy]
    /// The anchors; `nil` for only the system's.
    var anchors: [SecCertificate]?
    var usesAnchorsOnly = true
    var exceptions: CFData?
    var instant: Date?
    /// The result, until an input changes.
    var result: (path: [SecCertificate], status: OSStatus)?

    init(presented: [SecCertificate], policies: [SecPolicy]) {
        self.presented = presented
        self.policies = policies
    }
}

public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    let presented = (certificates as? [SecCertificate]) ?? (certificates as? SecCertificate).map { [$0] } ?? []
    guard !presented.isEmpty else { return errSecParam }
    trust.pointee = SecTrust(presented: presented, policies: list(policies))
    return errSecSuccess
}

private func list(_ policies: CFTypeRef?) -> [SecPolicy] {
    (policies as? [SecPolicy]) ?? (policies as? SecPolicy).map { [$0] } ?? []
}

public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    let policies = list(policies)
    guard !policies.isEmpty else { return errSecParam }
    trust.policies = policies
    trust.result = nil
    return errSecSuccess
}

public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = trust.policies
    return errSecSuccess
}

/// Sets the anchors. As with Apple's function, the system's roots then no longer apply unless the call below adds them;
/// `nil` restores them.
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    if let anchorCertificates {
        guard let anchors = anchorCertificates as? [SecCertificate] else { return errSecParam }
        trust.anchors = anchors
    } else {
        trust.anchors = nil
    }
    trust.usesAnchorsOnly = true
    trust.result = nil
    return errSecSuccess
}

public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.usesAnchorsOnly = anchorCertificatesOnly
    trust.result = nil
    return errSecSuccess
}

public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    trust.instant = verifyDate
    trust.result = nil
    return errSecSuccess
}

public func SecTrustEvaluateWithError(
    _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
) -> Bool {
    StandIn.noteEvaluation(onMainThread: Thread.isMainThread)
    let status = trust.evaluated.status
    guard status != errSecSuccess, trust.exceptions == nil else { return true }
    error?.pointee = NSError(domain: NSOSStatusErrorDomain, code: Int(status))
    return false
}

/// Returns the path. Evaluates first if that has not happened yet.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    let path = trust.evaluated.path
    return path.isEmpty ? nil : path
}
