internal import Foundation
internal import Pintle
internal import Synchronization

/// A queue for the uses of the storage of cookies that responses cause. It gives each host a fair share.
///
/// Foundation's default storage writes its whole content to the disk for each cookie that is set or deleted, and has no
/// method that changes several at once. One cookie may take a tenth of a second, and all other uses wait meanwhile. So
/// a response with many cookies must not delay those of other hosts: the hosts take turns, and only responses of the
/// same host wait for each other.
final class CookieQueue: Sendable {
    /// The cookies of one response.
    struct Job: Sendable {
        let host: ServerName
        let isUrgent: Bool
        var jar: CookieJar
        /// Returns `false` if the task has ended, so that its cookies are dropped.
        let isNeeded: @Sendable () -> Bool
        let completion: @Sendable () -> Void
    }

    /// The seconds after which a turn ends, if the host has stored at least one cookie.
    private static let turn = 0.005

    private struct State {
        /// The jobs that wait for another one of their host. A host has an entry as long as it has jobs.
        var waiting: [ServerName: [Job]] = [:]
        var urgentTurns: [@Sendable () -> Void] = []
        var otherTurns: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    /// A serial queue, which has a thread of its own: waiting for the disk on a global queue would take a thread from
    /// Swift's tasks.
    let thread = DispatchQueue(label: "pintle.cookies")

    /// The number of turns that wait, for tests.
    var turnCount: Int { state.withLock { $0.urgentTurns.count + $0.otherTurns.count } }

    /// Stores the cookies of a response.
    func add(_ job: Job) {
        let mustWait = state.withLock { state in
            state.waiting[job.host]?.append(job)
            defer { state.waiting[job.host] = state.waiting[job.host] ?? [] }
            return state.waiting[job.host] != nil
        }
        if !mustWait { addTurn(of: job) }
    }

    /// Adds a turn that only reads the storage. It waits for no other job of its host.
    ///
    /// - Parameter isUrgent: A Boolean value that indicates whether the policy covers the host. Such hosts go first:
    ///   the others may all belong to an attacker who redirects plain HTTP, and take a turn each.
    func addTurn(isUrgent: Bool, _ turn: @escaping @Sendable () -> Void) {
        state.withLock { state in
            if isUrgent { state.urgentTurns.append(turn) } else { state.otherTurns.append(turn) }
        }
        thread.async { [self] in
            let turn = state.withLock { state -> (@Sendable () -> Void)? in
                guard state.urgentTurns.isEmpty else { return state.urgentTurns.removeFirst() }
                return state.otherTurns.isEmpty ? nil : state.otherTurns.removeFirst()
            }
            turn?()
        }
    }

    private func addTurn(of job: Job) {
        addTurn(isUrgent: job.isUrgent) { [self] in
            var job = job
            let end = ProcessInfo.processInfo.systemUptime + Self.turn
            let isOver = !job.isNeeded() || job.jar.store(until: end)
            guard isOver else { return addTurn(of: job) }
            let next = state.withLock { state -> Job? in
                guard state.waiting[job.host]?.isEmpty == false else {
                    state.waiting[job.host] = nil
                    return nil
                }
                return state.waiting[job.host]?.removeFirst()
            }
            if let next { addTurn(of: next) }
            job.completion()
        }
    }
}
