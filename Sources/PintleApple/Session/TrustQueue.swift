import Dispatch

/// Where trust is evaluated: several connections at once, and none on anybody's delegate queue.
enum TrustQueue {
    static let shared = DispatchQueue(label: "Pintle.trust", qos: .userInitiated, attributes: .concurrent)
}
