// Replacements for the calls of other libraries.

#if canImport(PintleURLSession)
import PintleResources
import PintleStorage
import Foundation
import PintleURLSession

#if canImport(URLLoading)
// On Linux, `make test-apple` has its stand-in for URLSession in this module.
import URLLoading

// Stand-ins with the declarations of Alamofire, because this package fetches no other package. Sendable: they are
// empty.
class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {}

final class Session: Sendable {
    init(session: URLSession, delegate: SessionDelegate, rootQueue: DispatchQueue) {}
}

enum AlamofireConfigurations {
    static var `default`: URLSessionConfiguration { .default }
}

extension URLSessionConfiguration {
    static var af: AlamofireConfigurations.Type { AlamofireConfigurations.self }
}

func alamofireOnLinux(_ policy: LivePolicy) -> Session {
    // snippet.alamofireOnLinux
    let rootQueue = DispatchQueue(label: "com.example.app.alamofire")
    let delegateQueue = OperationQueue()
    delegateQueue.underlyingQueue = rootQueue
    delegateQueue.maxConcurrentOperationCount = 1
    let delegate = SessionDelegate()
    let session = Session(
        session: URLSession.pinned(
            to: policy, configuration: URLSessionConfiguration.af.default, delegate: delegate,
            delegateQueue: delegateQueue),
        delegate: delegate, rootQueue: rootQueue)
    // snippet.end
    return session
}
#endif

#if canImport(PintleApple)
// snippet.challenge
/// The delegate that the app has already.
final class Delegate: NSObject, URLSessionDelegate {
    private let evaluator: ServerTrustEvaluator

    init(_ policy: PinningPolicy) {
        evaluator = ServerTrustEvaluator(policy: policy)
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let answer = evaluator.evaluate(challenge)
        if let rejection = answer.rejection { print(rejection) }
        completionHandler(answer.disposition, answer.credential)
    }
}
// snippet.end
#endif

func handWritten() throws -> URLSession {
    // snippet.delegate
    let policy = try PinningPolicy {
        try PinnedHost(
            "api.example.com",
            pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
            backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
    }
    let session: URLSession = .pinned(to: policy)
    // snippet.end
    return session
}

func alamofire() throws -> PinningPolicy {
    // snippet.alamofire
    let api = try CertificateBundle(resource: "api", withExtension: "cer")
    let nas = try CertificateBundle(resource: "nas", withExtension: "cer")
    let policy = try PinningPolicy(unpinnedHosts: .reject) {
        try PinnedHost(
            "api.example.com", pins: api.publicKeyPins(),
            backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
        try PinnedHost("static.example.com", anchors: .system)
        try PinnedHost("nas.example.net", anchors: .only(nas))
    }
    // snippet.end
    return policy
}

func afNetworking() throws -> PinningPolicy {
    // snippet.afnetworking
    let certificates = try CertificateBundle(resourcesOf: .main)
    let policy = try PinningPolicy(unpinnedHosts: .reject) {
        try PinnedHost(
            "api.example.com", pins: certificates.certificatePins(), backup: .noneAccepted,
            anchors: .only(certificates))
    }
    // snippet.end
    return policy
}

func pinnedDomains() throws -> PinningPolicy {
    // snippet.pinnedDomains
    let policy = try PinningPolicy {
        try PinnedHost(
            "example.com", includingSubdomains: true,
            pins: [
                .publicKey("sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=", at: .leaf),
                .publicKey("sha256/5MyVhN0bErb8ghMyw1dTQT5XG26+c+P12A0/6YgEBS4=", at: .ca),
            ],
            backupPins: [.publicKey("sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=", at: .leaf)],
            requires: .leafAndCA)
    }
    // snippet.end
    return policy
}

func sslPinning() throws -> URLSession {
    // snippet.anchor
    let nas = try CertificateBundle(resource: "nas", withExtension: "cer")
    let policy = try PinningPolicy(unpinnedHosts: .reject) {
        try PinnedHost("nas.example.net", anchors: .only(nas))
    }
    let session: URLSession = .pinned(to: policy)
    // snippet.end
    return session
}

func sslPinning(_ fingerprints: [(host: String, sha256: String)], folder: String) throws -> PinnedURLSession {
    // snippet.approvals
    let store = try TrustApprovalStore(path: folder + "/trust.json")
    for old in fingerprints {
        let server = ServerEndpoint(host: try ServerName(old.host))
        try store.approve(TrustApproval(.certificate(CertificatePin(old.sha256)), for: server, at: Date()))
    }
    let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
    let session = URLSession.pinned(to: ApprovedPolicy(policy, approvals: store))
    // snippet.end
    return session
}

func okHttp() throws -> PinningPolicy {
    // snippet.okhttp
    let (current, backup) = (
        "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=",
        "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="
    )
    let policy = try PinningPolicy {
        try PinnedHost("example.com", includingSubdomains: true, pins: [current], backupPins: [backup])
        for host in ["eu.example.net", "us.example.net"] {
            try PinnedHost(host, pins: [current], backupPins: [backup])
        }
    }
    // snippet.end
    return policy
}
#endif
