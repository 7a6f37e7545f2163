public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PolicyStoreError: LocalizedError, DescribedError {}
extension UpdateFailure: LocalizedError, DescribedError {}
extension UpdateKeyError: LocalizedError, DescribedError {}
extension UpdateRejection: LocalizedError, DescribedError {}
extension UpdateTrustError: LocalizedError, DescribedError {}
