internal import Pintle

/// Warnings about a rule's terms for the validated path.
extension LintWarnings {
    /// Paths of public servers end here: leaf, intermediate, cross-signed root and root.
    private static let usualLength = 4

    mutating func lookAtPathTerms(of host: PinnedHost, _ index: Int) {
        if let length = host.minimumPathLength {
            if length == 1 {
                warn(
                    "path-length-without-effect", .rule(index)["minimumPathLength"],
                    "every path has one certificate, so the term changes nothing",
                    help: "write 3 to refuse leaves that a root has signed directly, or remove it")
            } else if length > Self.usualLength, PathTerms.lengths.contains(length) {
                warn(
                    "path-length-unusual", .rule(index)["minimumPathLength"],
                    "\(host) refuses paths of fewer than \(length) certificates; public servers have 2 to 4",
                    help: "compare with the path that pintle check \(host) prints")
            }
        }
        guard let issuer = host.issuerKey else { return }
        let pin = Pin(.publicKey(issuer))
        if issuer.isPlaceholder {
            warn(
                "placeholder-pin", .rule(index)["issuerKey"],
                "this is the placeholder that examples carry, not the hash of a key", help: "pintle pin \(host)")
        }
        if (host.pins + host.backupPins).contains(where: { $0.subject == pin.subject && $0.position == .leaf }) {
            warn(
                "issuer-key-of-leaf", .rule(index)["issuerKey"],
                "the key is a pin of the leaf of \(host) too, and a leaf does not issue itself",
                help: "write the key of the certificate above the leaf: pintle pin \(host)")
        }
        let isPrivateRoot = host.anchors.certificates.contains { $0.publicKeyPin == issuer && $0.isSelfIssued }
        if isPrivateRoot, let length = host.minimumPathLength, length > 2 {
            warn(
                "issuer-key-of-root", .rule(index)["issuerKey"],
                "the key is that of a root in anchors, which makes a path of 2, and minimumPathLength is \(length)",
                help: "write the key of the intermediate, or lower minimumPathLength to 2")
        } else if !isPrivateRoot, host.anchors.includesSystem, let name = lint.sharedAuthority(pin) {
            warn(
                "issuer-key-of-root", .rule(index)["issuerKey"],
                "the key is that of \(name), a public root, which rarely issues the certificate of a server itself",
                help: "write the key of the certificate above the leaf: pintle pin \(host); or pin the root at \"ca\"")
        }
    }
}
