// Reads a policy file and prints all of its problems.

import Pintle
import PintlePolicyFile

let bytes = Array(#"{ "version": 1, "hosts": [ { "host": "example.com", "pin": [] } ] }"#.utf8)
// snippet.read
do {
    let policy = try PinningPolicy(json: bytes)
    print("rules: \(policy.hosts.count)")
} catch {
    for problem in error.problems {
        print("\(problem.line ?? 0):\(problem.column ?? 0): \(problem.id): \(problem.message); \(problem.help)")
    }
}
// snippet.end
