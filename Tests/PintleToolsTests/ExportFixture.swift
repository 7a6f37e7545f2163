import FoundationEssentials
import Pintle
import PintleTestKit

@testable import PintlePolicyTools
@testable import PintleTools

/// Servers with paths of three certificates, and a system that trusts one root of two.
struct ExportFixture {
    struct Server {
        /// The path, leaf first and root last.
        let path: [Pintle.Certificate]

        var chain: [[UInt8]] { path.dropLast().map(\.der) }

        func pin(_ depth: Int, _ position: PinPosition = .any) -> Pin {
            Pin(.publicKey(path[depth].publicKeyPin), at: position)
        }

        func fingerprint(_ depth: Int, _ position: PinPosition = .any) -> Pin {
            Pin(.certificate(path[depth].fingerprint), at: position)
        }
    }

    static let now = Date(timeIntervalSince1970: 1_795_000_000)
    /// The servers: two leaves under each intermediate, two intermediates under each root.
    let servers: [Server]
    let systemRoot: Pintle.Certificate
    let privateRoot: Pintle.Certificate

    init() throws {
        var servers: [Server] = []
        for _ in 0..<2 {
            let root = try PintleTestKit.CertificateAuthority.root()
            for _ in 0..<2 {
                let intermediate = try root.intermediate()
                for _ in 0..<2 {
                    let identity = try intermediate.issue(hosts: ["example.test"])
                    servers.append(Server(path: try identity.chainWithRoot.map { try Pintle.Certificate(der: $0) }))
                }
            }
        }
        self.servers = servers
        systemRoot = servers[0].path[2]
        privateRoot = servers[7].path[2]
    }

    func evaluate(
        _ policy: PinningPolicy, _ endpoint: ServerEndpoint, _ server: Server, at instant: Date = Self.now
    ) -> TrustEvaluation {
        policy.evaluate(endpoint, presented: server.chain, at: instant) { request in
            let root = server.path[2]
            let isTrusted =
                request.anchors.certificates.contains(root) || (request.anchors.includesSystem && root == systemRoot)
            return isTrusted
                ? .valid(ValidatedPath(uncheckedLeafToAnchor: server.path.map(\.der)))
                : .invalid(PathFailure(.untrustedRoot, depth: 2, text: "not in this world"))
        }
    }
}

extension ExportPlan {
    /// Plans an export with the libraries of the whole tool.
    init(_ policy: PinningPolicy, to format: ForeignFormat, positionless: PinPosition? = nil) {
        self.init(policy, to: format, LinkedLibraries(), positionless: positionless)
    }
}

/// An export, and the policy that its import gives.
struct ExportedPolicy {
    let plan: ExportPlan
    let files: [ExportedFile]
    let draft: ImportDraft
    let policy: PinningPolicy

    init(
        _ policy: PinningPolicy, to format: ForeignFormat, positionless: PinPosition? = nil,
        language: ForeignLanguage? = nil
    ) throws {
        plan = ExportPlan(policy, to: format, positionless: positionless)
        let files = plan.files(ExportSettings(language: language))
        self.files = files
        let folder = ForeignFolder { path in files.first { $0.name == path }.map { Array($0.content.utf8) } }
        draft = try ImportCommand.read(Array(files[0].content.utf8), as: format, files: folder)
        self.policy = try draft.policy()
    }

    /// The losses of export and import together.
    var losses: [PolicyLoss] { plan.losses.losses + draft.losses.losses }
}

/// A generator of numbers that are the same in every run.
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
