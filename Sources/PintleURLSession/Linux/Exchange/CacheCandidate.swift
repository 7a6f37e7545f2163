internal import Foundation
internal import FoundationNetworking

/// An answer on its way into the cache.
struct CacheCandidate {
    let response: HTTPURLResponse
    let request: URLRequest
    let generation: PolicyGeneration
    let received: Date
    let end: Date?
    let varies: Bool
    let acceptedCodings: String?
    /// What a delegate has been given of it; `nil` where the loader keeps the content anyway.
    var content: Data?
}
