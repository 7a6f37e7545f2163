import Foundation
import PintleURLSession

#if canImport(Security)
import Security
#elseif canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client whose servers a policy decides about, and a person where the policy leaves it to one.
public final class Client: Sendable {
    /// What came of a request.
    public enum Outcome: Sendable {
        case page(status: Int, text: String)
        /// A server that nobody vouches for: ask, ``Client/approve(_:)``, and load again.
        case question(ServerQuestion)
        /// Not a byte was sent. Nothing that a person should wave through.
        case refused(reason: String, story: String)
        /// Nothing about trust: offline, no such host.
        case failed(String)
    }

    private let policy: LivePolicy
    private let store: TrustApprovalStore
    private let session: PinnedURLSession

    /// What a web view is given, so that it decides as requests do.
    public let source: any PolicySource

    /// - Parameters:
    ///   - policy: JSON, as the app ships it.
    ///   - folder: where decisions are kept; it exists.
    public init(policy json: [UInt8], folder: String) throws {
        let policy = LivePolicy(try PinningPolicy(json: json))
        let store = try TrustApprovalStore(path: folder + "/trust.json")
        self.policy = policy
        self.store = store
        let source = ApprovedPolicy(policy, approvals: store)
        session = URLSession.pinned(to: source)
        self.source = source
    }

    public func load(_ url: URL) async -> Outcome {
        do {
            let (data, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return .page(status: status, text: String(decoding: data.prefix(4_096), as: UTF8.self))
        } catch {
            switch TrustRejection(underlying: error) {
            case .unknownHost(let host): return .question(ServerQuestion(host))
            case let rejection?: return .refused(reason: rejection.reason, story: rejection.description)
            case nil: return .failed(error.localizedDescription)
            }
        }
    }

    /// The person has compared the fingerprint and said yes.
    ///
    /// - Throws: where earlier decisions are lost, ``ServerQuestion/lostDecisions``: this may be an impostor at the place
    ///   of a server that was known.
    public func approve(_ question: ServerQuestion) throws { try store.approve(question.host) }

    /// The same after the person was told that earlier decisions are lost, and has asked the server's owner again.
    public func approveDespiteLoss(_ question: ServerQuestion) throws {
        try store.approve(question.host, acceptingIncompleteRecord: true)
    }

    /// Another policy is in force from the next request on.
    public func rotate(to json: [UInt8]) throws { policy.replace(with: try PinningPolicy(json: json)) }
}

/// What a person has to see before they answer.
public struct ServerQuestion: Sendable, Identifiable {
    let host: UnknownHost

    init(_ host: UnknownHost) {
        self.host = host
    }

    public var id: String { "\(server) \(fingerprint)" }
    public var server: String { host.endpoint.description }
    /// SHA-256 of the certificate, in two rows of pairs.
    public var fingerprint: String { host.leaf.fingerprint.text(.rows) }
    public var subject: String { host.leaf.subject.description }
    /// What the system thinks of it.
    public var verdict: String { host.pathFailure.map { $0.primary.text } ?? "the system would trust it" }
    /// The server was known with another key: an alarm, not a first meeting.
    public var wasKnownWithAnotherKey: Bool { host.wasKnownWithAnotherKey }
    /// Earlier decisions are lost or cannot be read: nobody can tell whether the server was known with another key.
    public var lostDecisions: Bool { host.previous == nil && host.approvalRecord != .complete }
    /// What is wrong beyond what a person can accept.
    public var obstacle: String? { host.unacceptableFailure?.primary.text }
}
