// The file that is new: which servers the program means.
import Foundation
import PintleURLSession

/// From the policy file that PINTLE_POLICY names. An app would have one in its bundle, or write it in Swift.
let policy: PinningPolicy = {
    do {
        let path = ProcessInfo.processInfo.environment["PINTLE_POLICY"] ?? "policy.json"
        return try PinningPolicy(json: Array(Data(contentsOf: URL(fileURLWithPath: path))))
    } catch {
        print("no policy, no connections: \(error)")
        exit(2)
    }
}()
