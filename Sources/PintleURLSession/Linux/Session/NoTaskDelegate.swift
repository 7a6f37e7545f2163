public import Foundation
public import FoundationNetworking

/// The type of the literal `nil` in `data(for:delegate:)`, `upload` and `download` on Linux.
///
/// You never write this type. It conforms to `URLSessionTaskDelegate`, so Swift prefers the overloads that take it to
/// Foundation's overloads, which take an optional delegate and cannot pin.
public final class NoTaskDelegate: NSObject, URLSessionTaskDelegate, ExpressibleByNilLiteral, Sendable {
    public init(nilLiteral: ()) {}
}
