#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An error whose `localizedDescription` is its `description`.
///
/// Without this conformance, alerts would show "The operation could not be completed" as the `localizedDescription`.
///
/// Public errors must also name `LocalizedError` in their own conformances: the documentation shows neither a
/// conformance to a package protocol nor the conformances that it implies.
package protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension CertificateBundleError: LocalizedError, DescribedError {}
extension DERError: LocalizedError, DescribedError {}
extension PathFailure: LocalizedError, DescribedError {}
extension PinError: LocalizedError, DescribedError {}
extension PolicyError: LocalizedError, DescribedError {}
extension ServerNameError: LocalizedError, DescribedError {}
extension TrustApprovalError: LocalizedError, DescribedError {}
extension TrustRejection: LocalizedError, DescribedError {}
