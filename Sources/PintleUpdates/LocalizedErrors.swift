#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Without these, `localizedDescription`, which alerts show, would be "The operation could not be completed".

extension PinStoreError: LocalizedError {
    public var errorDescription: String? { description }
}

extension UpdateFailure: LocalizedError {
    public var errorDescription: String? { description }
}

extension UpdateKeyError: LocalizedError {
    public var errorDescription: String? { description }
}

extension UpdateRejection: LocalizedError {
    public var errorDescription: String? { description }
}

extension UpdateTrustError: LocalizedError {
    public var errorDescription: String? { description }
}
