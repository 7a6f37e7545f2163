public import Foundation

/// What is to be evaluated, and how. Not `Sendable`, which is the stricter of what Apple's releases say.
public final class SecTrust {
    let presented: [SecCertificate]
    var policies: [SecPolicy]
    /// `nil`: the system's alone.
    var anchors: [SecCertificate]?
    var usesAnchorsOnly = true
    var instant: Date?
    /// Until something is set anew.
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

/// As Apple's: without the call below the system's roots count no more, and `nil` brings them back.
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
    guard status != errSecSuccess else { return true }
    error?.pointee = NSError(domain: NSOSStatusErrorDomain, code: Int(status))
    return false
}

/// Evaluates first where nobody has.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    let path = trust.evaluated.path
    return path.isEmpty ? nil : path
}
