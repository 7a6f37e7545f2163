public import Foundation
public import FoundationNetworking

/// The literal `nil` as an argument of `data(for:delegate:)`, `upload` and `download` on Linux.
///
/// You never write this type. It conforms to `URLSessionTaskDelegate` so that Swift prefers the overloads that take it
/// to Foundation's, whose parameter is an optional and which cannot pin.
public final class NoTaskDelegate: NSObject, URLSessionTaskDelegate, ExpressibleByNilLiteral, Sendable {
    public init(nilLiteral: ()) {}
}
