#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An error whose `localizedDescription` is its `description`.
///
/// Without it, `localizedDescription`, which alerts show, would be "The operation could not be completed".
///
/// Conform public errors to `LocalizedError` by name as well: the documentation shows no conformance to a protocol of the
/// package, nor what follows from it.
package protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension ApprovalFileError: LocalizedError, DescribedError {}
extension CertificateBundleError: LocalizedError, DescribedError {}
extension DERError: LocalizedError, DescribedError {}
extension PathFailure: LocalizedError, DescribedError {}
extension PathRequirementError: LocalizedError, DescribedError {}
extension PinError: LocalizedError, DescribedError {}
extension PolicyError: LocalizedError, DescribedError {}
extension ServerNameError: LocalizedError, DescribedError {}
extension TrustApprovalError: LocalizedError, DescribedError {}
extension TrustRejection: LocalizedError, DescribedError {}
