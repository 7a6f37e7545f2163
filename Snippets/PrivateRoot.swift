// Rules for servers whose certificates a private root has signed.

#if canImport(PintleURLSession)
import PintleStorage
import PintleResources
import PintleURLSession

func privatePolicy() throws -> PinningPolicy {
    // snippet.folder
    let roots = try CertificateBundle(contentsOfFolder: "/etc/myservice/roots")
    let policy = try PinningPolicy {
        try PinnedHost("intranet.example.net", includingSubdomains: true, anchors: .only(roots))
    }
    // snippet.end
    return policy
}

func movingPolicy(pem: String) throws -> PinningPolicy {
    // snippet.both
    let root = try CertificateBundle(pem: pem)
    let policy = try PinningPolicy {
        try PinnedHost("shop.example.net", anchors: TrustAnchors(root, includesSystem: true))
    }
    // snippet.end
    return policy
}

func pinsOfABundle() throws -> PinningPolicy {
    // snippet.pins
    let certificates = try CertificateBundle(contentsOfFile: "certificates/example.com.pem")
    let policy = try PinningPolicy {
        try PinnedHost(
            "example.com", pins: certificates.publicKeyPins(),
            backupPins: [.publicKey("sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=")])
    }
    // snippet.end
    return policy
}

func bundledPolicy() throws -> PinningPolicy {
    // snippet.resource
    let roots = try CertificateBundle(resource: "private-root", withExtension: "pem")
    let policy = try PinningPolicy {
        try PinnedHost("intranet.example.net", includingSubdomains: true, anchors: .only(roots))
    }
    // snippet.end
    return policy
}
#endif
