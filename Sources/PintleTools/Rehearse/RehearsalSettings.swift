internal import PintleSystem
internal import PintleTestKit
internal import Synchronization

/// The settings of a rehearsal.
struct RehearsalSettings {
    /// The limit of `--timeout` in seconds; `nil` to derive it from the time that the client takes at the right server.
    var timeout: Double?
    /// The number of attacks that run at the same time.
    var parallel = RehearsalSettings.standardParallel
    /// The address of the proxy; `nil` for a client that connects to the servers.
    var proxied: ProxyAddress?
    /// A Boolean value that indicates whether results name their host.
    var namesHosts = false
    /// The common names of the roots that a device may have been made to trust.
    var roots: [String] = []

    /// `nil` without `--evidence`.
    var evidence: Evidence?

    /// The folder of the evidence.
    struct Evidence {
        let path: String
        /// A Boolean value that indicates whether requests are written as they came.
        let showsContent: Bool
    }

    static let standardParallel = 4
    /// The number of times that an attack may take longer than the right server.
    fileprivate static let slowdown = 3.0

    /// Returns the time limit of each attack in seconds. A client that starts slowly, such as a JVM, gets more than the
    /// standard time.
    ///
    /// - Parameter seconds: The time that the client took at the right server, when it ran without others.
    func timeout(afterStart seconds: Double) -> Double {
        if let timeout { return timeout }
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let share = max(1, (Double(parallel) / Double(processors)).rounded(.up))
        return max(RehearsalPlayer.standardTimeout, (seconds * Self.slowdown * share).rounded(.up))
    }
}

/// The time limit of the attacks, in seconds. Threads may share it.
final class RehearsalTimeLimit: Sendable {
    private let limit: Mutex<Double>
    /// A Boolean value that indicates whether the user has set the limit.
    let isFixed: Bool

    init(seconds: Double, isFixed: Bool) {
        limit = Mutex(seconds)
        self.isFixed = isFixed
    }

    var seconds: Double { limit.withLock(\.self) }

    /// Raises the limit if a client needs more time now than before.
    ///
    /// - Parameter seconds: The time that the client took at the right server beside the other attacks.
    func raise(forClientThatTook seconds: Double) {
        limit.withLock { $0 = max($0, (seconds * RehearsalSettings.slowdown).rounded(.up)) }
    }
}

/// The time that a rehearsal took.
struct RehearsalTiming {
    /// The number of attacks that ran at the same time.
    let parallel: Int
    /// The time limit of the client, in seconds.
    let timeout: Double
    /// The limit at the end.
    let lastTimeout: Double
    /// A Boolean value that indicates whether the limit was derived from the time at the right server.
    let isMeasured: Bool
    /// The time until the last attack ended that is not of the group `hold`; `nil` without attacks of that group.
    let withoutHold: Duration?

    /// `4 attacks at once; time-out 5 s; 0.4 s without the group hold`
    var sentence: String {
        var parts = [parallel > 1 ? "\(parallel) attacks at once" : "one attack at a time"]
        parts.append(
            "time-out \(RehearsalEvidence.seconds(timeout))"
                + (isMeasured ? ", for a client that starts slowly" : "")
                + (lastTimeout > timeout
                    ? ", later \(RehearsalEvidence.seconds(lastTimeout)) for a client that became slower" : ""))
        if let withoutHold { parts.append("\(Self.seconds(withoutHold)) without the group hold") }
        return parts.joined(separator: "; ")
    }

    /// Returns seconds with one decimal.
    static func seconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .milliseconds(100)).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
