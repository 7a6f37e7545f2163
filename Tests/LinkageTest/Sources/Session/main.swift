import Foundation
import PintleURLSession

// Creates a pinned session. It must link libcurl and libssl once each, although Foundation uses libcurl too.
let policy = try PinningPolicy { try PinnedHost("example.com", anchors: .system) }
let session: URLSession = .pinned(to: policy, observer: TrustEventLog { level, line in print(level, line) })
print(session.configuration.protocolClasses?.count ?? 0)
