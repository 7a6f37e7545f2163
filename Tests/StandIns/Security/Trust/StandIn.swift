internal import Foundation

/// What a test sets and reads; Apple's modules have nothing like it.
public enum StandIn {
    private struct State {
        var systemAnchors: [[UInt8]] = []
        var transparent: Set<[UInt8]> = []
        var denied: Set<[UInt8]> = []
        var evaluations = 0
        var evaluationsOnMainThread = 0
    }

    private static let lock = NSLock()
    // Touched under the lock alone.
    private nonisolated(unsafe) static var state = State()

    private static func withState<Result>(_ body: (inout State) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }

    static var systemAnchors: [[UInt8]] { withState { $0.systemAnchors } }

    /// Makes a root one that the system trusts, for the rest of the process: DER.
    public static func addSystemAnchor(_ der: [UInt8]) { withState { $0.systemAnchors.append(der) } }

    /// Makes a root one of the system's whose servers need proof that their certificates were logged; here no certificate
    /// has one: DER.
    public static func requireTransparency(of der: [UInt8]) { withState { _ = $0.transparent.insert(der) } }

    static func requiresTransparency(_ der: [UInt8]) -> Bool { withState { $0.transparent.contains(der) } }

    /// Stands for a user's setting that a certificate is never to be trusted, for the rest of the process: DER.
    public static func deny(_ der: [UInt8]) { withState { _ = $0.denied.insert(der) } }

    static func isDenied(_ der: [UInt8]) -> Bool { withState { $0.denied.contains(der) } }

    static func noteEvaluation(onMainThread isMainThread: Bool) {
        withState { state in
            state.evaluations += 1
            if isMainThread { state.evaluationsOnMainThread += 1 }
        }
    }

    /// How often trust was evaluated.
    public static var evaluationCount: Int { withState { $0.evaluations } }
    /// How often of these on the main thread.
    public static var mainThreadEvaluationCount: Int { withState { $0.evaluationsOnMainThread } }
}
