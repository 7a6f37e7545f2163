internal import Foundation
internal import FoundationNetworking

/// A response that may go into the cache once its content is complete.
struct CacheCandidate {
    let response: HTTPURLResponse
    let request: URLRequest
    let generation: PolicyGeneration
    let received: Date
    let end: Date?
    let varies: Bool
    let acceptedCodings: String?
    /// A copy of the content that the delegate gets; `nil` if the loader keeps the content anyway.
    var content: Data?
}
