// Reads a policy that comes with the app, with its private roots beside it.

#if canImport(PintleURLSession)
import Foundation
import PintleURLSession

func bundledPolicy() throws -> PinningPolicy {
    // snippet.resource
    let policy = try PinningPolicy(resource: "policy", withExtension: "json", in: .main)
    // snippet.end
    return policy
}
#endif
