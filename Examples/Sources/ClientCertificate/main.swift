import Foundation
import PintleStorage
import PintleURLSession

// ClientCertificate URL PIN ROOT.pem IDENTITY.pem: loads a page from a server that wants a client certificate.
let words = CommandLine.arguments
guard words.count == 5, let url = URL(string: words[1]) else {
    print("usage: ClientCertificate URL PIN ROOT.pem IDENTITY.pem")
    exit(2)
}
let server = try ServerEndpoint(url: url)
let root = try CertificateBundle(contentsOfFile: words[3])
let file = try Data(contentsOf: URL(fileURLWithPath: words[4]))
let identity = try ClientIdentity(certificates: file, key: file)
let policy = try PinningPolicy {
    try PinnedHost("\(server.host)", pins: [words[2]], backup: .noneAccepted, anchors: .only(root))
}
let session = URLSession.pinned(to: policy) { $0 == server ? identity : nil }
do {
    let (data, response) = try await session.data(from: url)
    print(String(decoding: data, as: UTF8.self))
    if case .shown(let fingerprint) = response.clientCertificateUse { print("shown: \(fingerprint)") }
} catch {
    print(TrustRejection(underlying: error)?.description ?? error.localizedDescription)
    exit(1)
}
