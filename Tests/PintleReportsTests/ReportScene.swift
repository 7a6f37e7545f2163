import FoundationEssentials
import Glibc
import PintleOpenSSL
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintleReports

/// A server, a policy for it, and a folder for reports.
struct ReportScene {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let address = "https://reports.example.net/pins"

    let directory: TemporaryDirectory
    let authority: CertificateAuthority
    let identity: Identity

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.root()
        identity = try authority.issue(hosts: ["example.com", "*.example.com"])
    }

    var folder: String { directory.path(of: "reports") }

    func policy(
        to addresses: [String] = [Self.address], enforcement: Enforcement = .enforce, expiry: PinExpiry = .never,
        version: Int = 0, pins: Int = 1
    ) throws -> PinningPolicy {
        let wrong = try (0..<pins).map { _ in
            Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: PrivateKey(.ed25519).spkiDER)))
        }
        let rule = try PinnedHost(
            "example.com", includingSubdomains: true, pins: wrong,
            backupPins: [Pin(.certificate(CertificatePin(certificate: authority.certificate.der)), at: .leaf)],
            expiry: expiry, enforcement: enforcement, reportTo: addresses)
        return try PinningPolicy(
            hosts: [rule], unpinnedHosts: .reject, updateVersion: version, allowsUpdatesForAnyHost: false)
    }

    /// Returns a verdict on the server with a path that counts as valid.
    func failure(
        _ host: String = "example.com", port: UInt16 = 443, by policy: PinningPolicy? = nil, generation: UInt64 = 1,
        at now: Date = Self.now, extra: [[UInt8]] = []
    ) throws -> VerdictEvent {
        let policy = try policy ?? self.policy()
        let path = ValidatedPath(uncheckedLeafToAnchor: identity.chain + [authority.certificate.der])
        let evaluation = policy.evaluate(
            ServerEndpoint(host: try ServerName(host), port: port), presented: identity.chain + extra, at: now
        ) { _ in .valid(path) }
        return try #require(VerdictEvent(evaluation, by: policy, generation: generation, at: now))
    }

    func reporter(
        _ collector: some ReportTransport = ScriptedCollector(), _ change: (inout ReportOptions) -> Void = { _ in }
    ) throws -> PinReporter {
        var options = ReportOptions()
        options.longestDelay = 0
        change(&options)
        return try PinReporter(folder: folder, options: options, transport: collector)
    }
}

/// A transport that answers as scripted and records the requests.
final class ScriptedCollector: ReportTransport {
    private let kept = Locked<[ReportRequest]>([])
    private let answer: @Sendable (ReportRequest) throws -> ReportResponse

    init(_ answer: @escaping @Sendable (ReportRequest) throws -> ReportResponse = { _ in ReportResponse(status: 204) })
    {
        self.answer = answer
    }

    var requests: [ReportRequest] { kept.withLock { $0 } }

    func send(_ request: ReportRequest) async throws -> ReportResponse {
        kept.withLock { $0.append(request) }
        return try answer(request)
    }
}

struct CollectorIsDown: Error {}
