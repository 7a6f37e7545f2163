// Reads a policy from the app's bundle, with its private roots beside it.

#if canImport(PintleURLSession)
import PintleResources
import Foundation
import PintleURLSession

func bundledPolicy() throws -> PinningPolicy {
    // snippet.resource
    let policy = try PinningPolicy(resource: "policy", withExtension: "json", in: .main)
    // snippet.end
    return policy
}
#endif
