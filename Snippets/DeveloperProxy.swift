// Trusts a developer's proxy, only in debug builds.

#if canImport(PintleURLSession)
import PintleStorage
import PintlePolicyFile
import PintleURLSession

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
#endif
