import FoundationEssentials
import Pintle
import PintlePolicyFile

// Parses, builds, decides and prints with only the core and policy files, to show which libraries these link.
let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=")
let json = #"{"version": 1, "hosts": [{"host": "example.com", "pins": ["\#(pin)"], "backupPins": "none-accepted"}]}"#
let policy = try PinningPolicy(json: Array(json.utf8))
let endpoint = ServerEndpoint(host: try ServerName("example.com"))
let decision = policy.decide(
    endpoint, path: ValidatedPath(uncheckedLeafToAnchor: [[0x30, 0x00]]), at: Date(timeIntervalSince1970: 0))
print(decision.reason)
