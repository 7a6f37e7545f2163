public import Foundation

/// Returns a cookie with which later evaluations of the same leaf succeed.
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? { trust.presented.first?.der.data }

/// Sets the exceptions, or clears them for `nil`. Those of another leaf are dropped, as by Apple's function.
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    guard trust.exceptions != exceptions else { return true }
    trust.result = nil
    trust.exceptions = exceptions == SecTrustCopyExceptions(trust) ? exceptions : nil
    return trust.exceptions != nil
}

extension SecTrust {
    /// Makes a trust object without certificates. Apple's functions make none; a loading system might.
    public static func withoutCertificates() -> SecTrust { SecTrust(presented: [], policies: []) }
}

extension [UInt8] {
    fileprivate var data: Data { Data(self) }
}
