// Trusts a developer's proxy, only in debug builds.
import Pintle
import PintleStorage

func loadPolicy(_ json: [UInt8]) throws -> PinningPolicy {
    // snippet.debug
    var policy = try PinningPolicy(json: json)
    #if DEBUG
    let proxy = try CertificateBundle(contentsOfFile: "mitmproxy-ca-cert.pem")
    policy = policy.trusting(debugAnchors: proxy.certificates)
    #endif
    // snippet.end
    return policy
}
