import FoundationEssentials
import Pintle
import PintleOpenSSL

// The same question with a path to validate: needs libssl beside what the core needs.
let policy = try PinningPolicy(json: Array(#"{"version": 1, "hosts": []}"#.utf8))
let endpoint = ServerEndpoint(host: try ServerName("example.com"))
let validator = PathValidator(system: SystemAnchors(replacedBy: []))
let evaluation = policy.evaluate(
    endpoint, presented: [[0x30, 0x00]], at: Date(timeIntervalSince1970: 0), validate: validator.validate)
print(evaluation.decision.reason)
