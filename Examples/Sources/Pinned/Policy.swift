// The only new file: the policy for the program's servers.
import Foundation
import PintlePolicyFile
import PintleURLSession

/// The policy file that PINTLE_POLICY names. An app would have the policy in its bundle or in Swift.
let policy: PinningPolicy = {
    do {
        let path = ProcessInfo.processInfo.environment["PINTLE_POLICY"] ?? "policy.json"
        return try PinningPolicy(json: Array(Data(contentsOf: URL(fileURLWithPath: path))))
    } catch {
        print("no policy, no connections: \(error)")
        exit(2)
    }
}()
