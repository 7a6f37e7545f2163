import Foundation
import FoundationNetworking

@testable import PintleURLSession

/// The actions and the next state for each event in each state. A pair without a row has no actions and keeps its
/// state.
///
/// A row is `event: actions > next state`, below the line of its state. `-` stands for no actions, and `1 of /first`
/// for transfer 1 with the request for that path. Values that a new task has are omitted.
enum TaskTransitionTable {
    private static let rows: [String: String] = {
        var rows: [String: String] = [:]
        var situation = ""
        for line in text.split(separator: "\n") {
            guard line.hasPrefix("    ") else {
                situation = line.trimmingCharacters(in: .whitespaces)
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            rows["\(situation) \(parts[0])"] = parts[1]
        }
        return rows
    }()

    static var keys: [(String, String)] {
        rows.keys.map { key in
            let words = key.split(separator: " ").map(String.init)
            return (words[0], words[1])
        }
    }

    static func row(_ situation: TaskSituation, _ event: TaskEvent) -> String? {
        rows["\(situation.rawValue) \(event.rawValue)"]
    }
}
