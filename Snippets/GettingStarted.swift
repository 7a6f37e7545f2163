// The last step of the article: a session against the two servers from the earlier steps.

// Only on Linux, because on Apple's systems Foundation has no separate networking module.
#if canImport(PintleURLSession) && canImport(FoundationNetworking)
// snippet.session
import Foundation
import PintleStorage
import PintleURLSession

let root = try CertificateBundle(contentsOfFile: "root.pem")
let policy = try PinningPolicy {
    try PinnedHost(
        "localhost",
        pins: ["sha256/G3R3ndolfPXNTUWk8DKA64dIb9/12RNUaG8o1JFeAxw="],
        backupPins: ["sha256/FJzAD/9HX+dwkNyb/QVbtEG+aX9N1Z0/XzkzxxfHY+w="],
        anchors: .only(root))
}
let session = URLSession.pinned(to: policy)
for address in ["https://localhost:8443/", "https://localhost:8444/"] {
    guard let url = URL(string: address) else { continue }
    do {
        let (data, _) = try await session.data(from: url)
        print(address, data.count)
    } catch {
        guard let rejection = TrustRejection(underlying: error) else { throw error }
        print(address, rejection.reason)
    }
}
// snippet.end
#endif
