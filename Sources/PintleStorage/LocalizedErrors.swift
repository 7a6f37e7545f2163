#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Without these, `localizedDescription`, which alerts show, would be "The operation could not be completed".

extension StorageError: LocalizedError {
    public var errorDescription: String? { description }
}

extension TrustStoreError: LocalizedError {
    public var errorDescription: String? { description }
}
