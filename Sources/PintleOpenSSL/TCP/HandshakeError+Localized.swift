#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Without these, `localizedDescription`, which alerts show, would be "The operation could not be completed".

extension HandshakeError: LocalizedError {
    public var errorDescription: String? { description }
}
