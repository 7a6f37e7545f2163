internal import FoundationEssentials
internal import Pintle

/// Users whose app would accept a thief with a stolen key as the server.
struct Exposure {
    let server: Int
    let certificate: Int
    let key: Int
    let from: Date
    /// `nil` for the plan's end.
    let until: Date?
    let apps: [Int]
    /// At the beginning.
    let share: UserShare
    /// The share at the end of the plan, or when the certificate ends.
    let lastShare: UserShare
}
