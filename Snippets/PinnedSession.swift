// Pins a URLSession, and prints the reason that a server was refused.

#if canImport(PintleApple)
import Foundation
import PintleURLSession
#if canImport(URLLoading)
// On Linux, `make test-apple` has its stand-in for URLSession in this module.
import URLLoading
#endif
#elseif canImport(PintleURLSession) && canImport(FoundationNetworking)
import Foundation
import PintleURLSession

let policy = try PinningPolicy {
    try PinnedHost(
        "example.com", includingSubdomains: true,
        pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
        backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
}
// snippet.session
let session = URLSession.pinned(to: policy)
do {
    guard let url = URL(string: "https://example.com/") else { throw URLError(.badURL) }
    let (data, response) = try await session.data(from: url)
    print(data.count, response.trustReceipt?.matchedPin as Any)
} catch {
    switch TrustRejection(underlying: error) {
    case .pinMismatch(let mismatch): print(mismatch)  // served pins, wanted pins, which rule
    case let rejection?: print(rejection.reason)
    case nil: throw error  // not about trust: offline, no such name, ...
    }
}
// snippet.end
#endif

#if canImport(PintleURLSession)
func systemSession(_ policy: PinningPolicy) -> URLSession {
    // snippet.type
    let session: URLSession = .pinned(to: policy)
    // snippet.end
    return session
}

func configuredSession(_ policy: PinningPolicy, _ mine: any URLSessionDelegate) -> URLSession {
    // snippet.configured
    let configuration = URLSessionConfiguration.default
    configuration.timeoutIntervalForRequest = 20
    let session: URLSession = .pinned(to: policy, configuration: configuration, delegate: mine)
    // snippet.end
    return session
}

// snippet.client
/// The requests of an app to its server.
struct Client {
    private let session: URLSession

    init() throws {
        let policy = try PinningPolicy {
            try PinnedHost(
                "example.com",
                pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
                backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
        }
        session = .pinned(to: policy)
    }

    func load(_ url: URL) async throws -> Data {
        do {
            return try await session.data(from: url).0
        } catch {
            guard let rejection = TrustRejection(underlying: session.explain(error)) else { throw error }
            throw rejection
        }
    }
}
// snippet.end
#endif
