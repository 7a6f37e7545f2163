import FoundationEssentials
import PintleOpenSSL

// Decides with path validation, which links libssl in addition to the libraries of the core.
let policy = try PinningPolicy(hosts: [])
let endpoint = ServerEndpoint(host: try ServerName("example.com"))
let validator = PathValidator(system: SystemAnchors(replacedBy: []))
let evaluation = policy.evaluate(
    endpoint, presented: [[0x30, 0x00]], at: Date(timeIntervalSince1970: 0), validate: validator.validate)
print(evaluation.decision.reason)
