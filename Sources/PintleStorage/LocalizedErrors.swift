public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension StorageError: LocalizedError, DescribedError {}
extension TrustStoreError: LocalizedError, DescribedError {}
