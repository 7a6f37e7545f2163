// A rule for a server whose certificate a private root signed.
import Pintle

func privatePolicy(derOfTheRoot: [UInt8]) throws -> PinningPolicy {
    // snippet.anchor
    let root = try Certificate(der: derOfTheRoot)
    let policy = try PinningPolicy {
        try PinnedHost("intranet.example.net", includingSubdomains: true, pins: [Pin](), anchors: .only([root]))
    }
    // snippet.end
    return policy
}
