#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Without these, `localizedDescription`, which alerts show, would be "The operation could not be completed".

extension ApprovalFileError: LocalizedError {
    public var errorDescription: String? { description }
}

extension CertificateBundleError: LocalizedError {
    public var errorDescription: String? { description }
}

extension DERError: LocalizedError {
    public var errorDescription: String? { description }
}

extension PathFailure: LocalizedError {
    public var errorDescription: String? { description }
}

extension PathRequirementError: LocalizedError {
    public var errorDescription: String? { description }
}

extension PinError: LocalizedError {
    public var errorDescription: String? { description }
}

extension PolicyError: LocalizedError {
    public var errorDescription: String? { description }
}

extension ServerNameError: LocalizedError {
    public var errorDescription: String? { description }
}

extension TrustApprovalError: LocalizedError {
    public var errorDescription: String? { description }
}

extension TrustRejection: LocalizedError {
    public var errorDescription: String? { description }
}
