import Foundation
import FoundationNetworking
import Testing

@testable import PintleURLSession

/// All sequences of events of a task, of any length. Sequences that lead to the same state are continued only once.
///
/// With `PINTLE_ALL_STATES` the limits of ``TaskWorld/Limits`` are higher.
@Suite("Pinned sessions: all sequences of a task's events")
struct TaskSequenceTests {
    private static let takesAll = ProcessInfo.processInfo.environment["PINTLE_ALL_STATES"] != nil

    /// Every world that can be reached, and the moves between them.
    private struct Graph {
        /// `true` for each world whose task has ended.
        var ends: [Bool]
        var paths: [(from: Int, move: TaskWorld.Move)?] = [nil]
        /// For each world, the worlds from which a move leads to it that ends no task too early.
        var origins: [[Int]] = [[]]
        var moves = 0
        var depths = [0]
        /// The first faults, each with one of the shortest sequences of moves.
        var faults: [String] = []

        init(_ limits: TaskWorld.Limits) throws {
            let start = try TaskWorld(limits)
            ends = [start.isOver]
            var numbers = [start.key: 0]
            // A world is dropped once its moves are made.
            var worlds = [start]
            var (next, dropped) = (0, 0)
            while next < ends.count, faults.isEmpty {
                if next == dropped + worlds.count / 2, next > 1_000 {
                    worlds.removeFirst(next - dropped)
                    dropped = next
                }
                let before = worlds[next - dropped]
                for move in before.moves() {
                    var world = before
                    try world.make(move)
                    moves += 1
                    if let fault = world.fault { faults.append("\(fault): \(sequence(to: next)), \(move)") }
                    let key = world.key
                    let number = numbers[key] ?? ends.count
                    if number == ends.count {
                        numbers[key] = number
                        worlds.append(world)
                        ends.append(world.isOver)
                        paths.append((next, move))
                        origins.append([])
                        depths.append(depths[next] + 1)
                    }
                    if TaskWorld.leadsOn(move) { origins[number].append(next) }
                }
                next += 1
            }
        }

        func sequence(to number: Int) -> String {
            var moves: [String] = []
            var at = number
            while let (from, move) = paths[at] {
                moves.append("\(move)")
                at = from
            }
            return moves.reversed().joined(separator: ", ")
        }

        /// The worlds from which no sequence of good moves leads to the end of the task.
        var stuck: [Int] {
            var reaches = ends
            var open = ends.indices.filter { reaches[$0] }
            while let number = open.popLast() {
                for origin in origins[number] where !reaches[origin] {
                    reaches[origin] = true
                    open.append(origin)
                }
            }
            return ends.indices.filter { !reaches[$0] }
        }
    }

    private static let limits: [TaskWorld.Limits] =
        takesAll
        ? [
            .init(suspensions: 1, detours: 1), .init(suspensions: 1, detours: 1, hasStream: true),
            .init(suspensions: 1, detours: 1, hasDelegate: false), .init(suspensions: 2, detours: 0),
            .init(suspensions: 0, detours: 2), .init(suspensions: 0, detours: 2, hasStream: true),
            .init(suspensions: 0, detours: 3, hasDelegate: false),
        ]
        : [
            .init(suspensions: 1, detours: 0), .init(suspensions: 0, detours: 1),
            .init(suspensions: 0, detours: 1, hasStream: true), .init(suspensions: 1, detours: 1, hasDelegate: false),
        ]

    @Test(
        "Every task ends exactly once, whatever crosses, and no sequence of events leaves one without an end",
        arguments: limits)
    func legal(limits: TaskWorld.Limits) throws {
        let graph = try Graph(limits)
        for fault in graph.faults { Issue.record("\(fault)") }
        let stuck = graph.faults.isEmpty ? graph.stuck : []
        #expect(stuck.isEmpty, "\(stuck.count) without an end: \(stuck.first.map { graph.sequence(to: $0) } ?? "")")
        print(
            "task, \(limits): \(graph.ends.count) states, \(graph.moves) moves,",
            "sequences of up to \(graph.depths.max() ?? 0) until a new state")
    }

    /// The events of the table, in any order, also those that the surroundings never send.
    @Test("No sequence of events, legal or not, ends a task twice or wakes it after its end")
    func anyOrder() throws {
        typealias Machine = TaskStateMachine<Int>
        var machines = [Machine(try TaskEvent.hop())]
        var known: Set<String> = [machines[0].summary]
        var (next, moves) = (0, 0)
        while next < machines.count {
            let before = machines[next]
            next += 1
            for event in Self.events {
                var machine = before
                let actions = try event.apply(to: &machine).split(separator: ", ")
                moves += 1
                let (wasOver, isOver) = (before.phase == .completed, machine.phase == .completed)
                let finishes = actions.count { $0.hasPrefix("finish") }
                #expect(finishes == (isOver && !wasOver ? 1 : 0), "\(before.summary), \(event)")
                let summary = machine.summary
                if wasOver { #expect(summary == before.summary && (actions.isEmpty || actions == ["discard"])) }
                if before.phase == .canceling {
                    #expect(machine.phase == .canceling || machine.error?.code == .cancelled)
                    #expect(actions.allSatisfy { $0.hasPrefix("finish -999") || $0 == "discard" }, "\(event)")
                }
                if actions.contains("keep") { #expect(before.summary.hasPrefix("receiving")) }
                guard Self.isWithinLimits(machine), known.insert(summary).inserted else { continue }
                machines.append(machine)
            }
        }
        print("task, any order: \(machines.count) states, \(moves) moves")
        #expect(machines.count > 200)
    }

    /// The events that are left out lead to more requests, and each of them to as many states again.
    private static let events = TaskEvent.allCases.filter {
        takesAll || ![.openedWithData, .openedNext, .follow].contains($0)
    }

    private static func isWithinLimits(_ machine: TaskStateMachine<Int>) -> Bool {
        guard machine.progress.sent <= (takesAll ? 7 : 0), machine.progress.received <= (takesAll ? 100 : 0) else {
            return false
        }
        switch machine.state {
        case .idle(let suspensions, _): return suspensions <= 2
        case .live(let live):
            if case .transferring(_, _, .discarding(_, let count)) = live.step, count > 100 { return false }
            let counts = [live.suspensions, live.redirects, live.supersessions]
            return live.refusal == nil && counts.allSatisfy { $0 <= 1 } && (takesAll || counts.reduce(0, +) <= 1)
        case .cancelling, .ended: return true
        }
    }
}
