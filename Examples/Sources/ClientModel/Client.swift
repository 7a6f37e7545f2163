import Foundation
import PintlePolicyFile
import PintleStorage
import PintleURLSession

#if canImport(FoundationNetworking) && !canImport(PintleApple)
import FoundationNetworking
#endif

/// A client with a policy that decides about servers, and asks the user about servers without a rule.
public final class Client: Sendable {
    /// The result of a request.
    public enum Outcome: Sendable {
        case page(status: Int, text: String)
        /// The server has no trusted certificate. Ask the user, call ``Client/approve(_:)``, and load again.
        case question(ServerQuestion)
        /// The server was refused and received no byte. The user must not be able to override this.
        case refused(reason: String, story: String)
        /// The failure is not about trust: for example, the device is offline or the host does not exist.
        case failed(String)
    }

    private let policy: LivePolicy
    private let store: TrustApprovalStore
    private let session: PinnedURLSession

    /// The source for a web view, so that it makes the same decisions as requests.
    public let source: any PolicySource

    /// - Parameters:
    ///   - json: the policy that the app ships, as JSON.
    ///   - folder: an existing folder for the user's decisions.
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

    /// Stores the user's approval. Call it after the user has compared the fingerprint and seen each of
    /// ``ServerQuestion/exceptions``.
    ///
    /// - Throws: if earlier decisions are lost, ``ServerQuestion/lostDecisions``: the server may be an impostor in the
    ///   place of a known one.
    public func approve(_ question: ServerQuestion) throws {
        try store.approve(question.host, alsoAccepting: question.host.exceptionsOfCertificate)
    }

    /// Stores the approval although earlier decisions are lost. Call it only after the user was told so and has asked
    /// the server's owner again.
    public func approveDespiteLoss(_ question: ServerQuestion) throws {
        try store.approve(
            question.host, alsoAccepting: question.host.exceptionsOfCertificate, acceptingIncompleteRecord: true)
    }

    /// Replaces the policy for the next requests.
    public func rotate(to json: [UInt8]) throws { policy.replace(with: try PinningPolicy(json: json)) }
}

/// The facts that the user must see before the answer.
public struct ServerQuestion: Sendable, Identifiable {
    let host: UnknownHost

    init(_ host: UnknownHost) {
        self.host = host
    }

    public var id: String { "\(server) \(fingerprint)" }
    public var server: String { host.endpoint.description }
    /// The SHA-256 of the certificate, in two rows of pairs.
    public var fingerprint: String {
        let rows = host.leaf.fingerprint.rows
        return rows.0 + "\n" + rows.1
    }

    public var subject: String { host.leaf.subject.description }
    /// The system's verdict on the server.
    public var verdict: String { host.pathFailure.map { $0.primary.text } ?? "the system would trust it" }
    /// A Boolean value that indicates whether the server was known with another key. Show a warning, not a first
    /// question.
    public var wasKnownWithAnotherKey: Bool { host.wasKnownWithAnotherKey }
    /// A Boolean value that indicates whether earlier decisions are lost or unreadable, so that the server may have
    /// been known with another key.
    public var lostDecisions: Bool { host.previous == nil && host.approvalRecord != .complete }
    /// The exceptions that the approval accepts, in words, beside the missing authority. A router that is reached by
    /// its address has a certificate for another name.
    public var exceptions: [String] {
        let names = host.names.joined(separator: ", ")
        return [
            host.exceptionsOfCertificate.contains(.nameMismatch)
                ? "The certificate is for other names: \(names.isEmpty ? "none" : names)." : nil,
            host.exceptionsOfCertificate.contains(.expired)
                ? "The certificate ended on \(host.leaf.validity.notAfter)." : nil,
        ].compactMap(\.self)
    }
    /// A failure that the user cannot accept; `nil` without one.
    public var obstacle: String? {
        host.exceptionsOfCertificate.isEmpty ? host.unacceptableFailure?.primary.text : nil
    }
}
