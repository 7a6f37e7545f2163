// Fail, ask, store, retry: servers that only the user can identify.

// Only on Linux, because on Apple's systems Foundation has no separate networking module.
#if canImport(PintleURLSession) && canImport(FoundationNetworking)
import PintleStorage
import Foundation
import PintleURLSession

/// - Parameter ask: shows the user the facts about a server, and returns whether the user approves it.
func load(_ url: URL, folder: String, ask: (UnknownHost) async -> Bool) async throws -> Data {
    // snippet.loop
    let store = try TrustApprovalStore(path: folder + "/trust.json") { event in print(event) }
    let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
    let session = URLSession.pinned(to: ApprovedPolicy(policy, approvals: store))
    do {
        return try await session.data(from: url).0
    } catch {
        guard case .unknownHost(let host) = TrustRejection(underlying: session.explain(error)) else { throw error }
        // Earlier approvals are not all known, so this may be a changed certificate instead of a first contact.
        guard host.approvalRecord == .complete else { throw store.problem ?? error }
        // The connection is closed, so the user may take all day. The question names each exception.
        guard await ask(host) else { throw error }
        try store.approve(host, alsoAccepting: host.exceptionsOfCertificate)
    }
    return try await session.data(from: url).0
    // snippet.end
}

/// - Returns: the lines of the question.
func question(_ host: UnknownHost) -> [String] {
    // snippet.question
    let leaf = host.leaf
    let lines = [
        "server       \(host.endpoint)" + (host.isFirstContact ? "" : ", not for the first time"),
        "system       \(host.pathFailure?.code.rawValue ?? "would trust it")",
        "names        \(host.names.joined(separator: ", "))",
        "valid        \(leaf.validity.notBefore) to \(leaf.validity.notAfter)",
        "key          \(leaf.publicKeyPin)",
        "fingerprint  \(leaf.fingerprint.colons)",
    ]
    let exceptions = host.exceptionsOfCertificate.map { $0 == .expired ? "is past its end" : "is for other names" }
    // snippet.end
    return lines + exceptions.map { "certificate  \($0)" }
}
#endif
