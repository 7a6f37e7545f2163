public import Foundation

/// The controls of the stand-ins for tests. Apple's modules have nothing like it.
public enum StandIn {
    private struct State {
        var systemAnchors: [[UInt8]] = []
        var transparent: Set<[UInt8]> = []
        var denied: Set<[UInt8]> = []
        var flaws: [[UInt8]: [Flaw]] = [:]
        var pinnedDomains: [PinnedDomain] = []
        var preferredIdentities: [Int: SecIdentity] = [:]
        var evaluations = 0
        var evaluationsOnMainThread = 0
    }

    private static let lock = NSLock()
    // `nonisolated(unsafe)`: every access takes the lock.
    private nonisolated(unsafe) static var state = State()

    private static func withState<Result>(_ body: (inout State) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }

    static var systemAnchors: [[UInt8]] { withState { $0.systemAnchors } }

    /// Makes the system trust a root (DER) for the rest of the process.
    public static func addSystemAnchor(_ der: [UInt8]) { withState { $0.systemAnchors.append(der) } }

    /// Makes the system require proof that certificates under one of its roots (DER) were logged. In this module no
    /// certificate has such a proof.
    public static func requireTransparency(of der: [UInt8]) { withState { _ = $0.transparent.insert(der) } }

    static func requiresTransparency(_ der: [UInt8]) -> Bool { withState { $0.transparent.contains(der) } }

    /// Adds a user's setting that a certificate (DER) is never trusted, for the rest of the process.
    public static func deny(_ der: [UInt8]) { withState { _ = $0.denied.insert(der) } }

    static func isDenied(_ der: [UInt8]) -> Bool { withState { $0.denied.contains(der) } }

    /// Makes the system find a flaw in a certificate (DER) whenever it applies the policy for servers, for the rest of
    /// the process.
    public static func find(_ kind: FlawKind, _ status: OSStatus, in der: [UInt8]) {
        withState { $0.flaws[der, default: []].append(Flaw(kind, status)) }
    }

    static func flaws(in der: [UInt8]) -> [Flaw] { withState { $0.flaws[der] ?? [] } }

    /// Adds the entries of `NSPinnedDomains` to the Info.plist of the process. An app's file is read once; here entries
    /// are added, so each test uses names of its own.
    ///
    /// - Parameter propertyList: The Info.plist, of which the system reads `NSAppTransportSecurity` only.
    public static func addInfoPlist(_ propertyList: Data) throws {
        let root = try PropertyListSerialization.propertyList(from: propertyList, format: nil) as? [String: Any]
        let settings = root?["NSAppTransportSecurity"] as? [String: Any]
        let domains = settings?["NSPinnedDomains"] as? [String: Any] ?? [:]
        let entries = domains.compactMap { PinnedDomain($0.key, $0.value) }
        withState { $0.pinnedDomains += entries }
    }

    static var pinnedDomains: [PinnedDomain] { withState { $0.pinnedDomains } }

    /// Sets the identity that default handling offers to servers at a port, as macOS does with an identity preference.
    public static func prefer(_ identity: SecIdentity, port: Int) {
        withState { $0.preferredIdentities[port] = identity }
    }

    package static func preferredIdentity(port: Int) -> SecIdentity? { withState { $0.preferredIdentities[port] } }

    static func noteEvaluation(onMainThread isMainThread: Bool) {
        withState { state in
            state.evaluations += 1
            if isMainThread { state.evaluationsOnMainThread += 1 }
        }
    }

    /// The number of trust evaluations.
    public static var evaluationCount: Int { withState { $0.evaluations } }
    /// The number of trust evaluations on the main thread.
    public static var mainThreadEvaluationCount: Int { withState { $0.evaluationsOnMainThread } }
}
