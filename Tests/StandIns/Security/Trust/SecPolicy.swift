internal import Foundation

/// The policy for TLS servers, or the basic policy, which requires only a path.
public final class SecPolicy {
    enum Rules {
        case basic
        case server(host: String?, pins: [PinnedDomain.List: Set<[UInt8]>])
    }

    let rules: Rules

    init(_ rules: Rules) {
        self.rules = rules
    }
}

/// Returns the policy for servers. It takes the pins for the host from the Info.plist of the process, as Apple's
/// function does, so they apply in each evaluation.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    var pins: [PinnedDomain.List: Set<[UInt8]>] = [:]
    for list in PinnedDomain.List.allCases where server {
        guard let hostname else { continue }
        pins[list] = PinnedDomain.digests(list, for: hostname, in: StandIn.pinnedDomains)
    }
    return SecPolicy(.server(host: hostname, pins: pins))
}

public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

extension SecPolicy {
    /// Returns the flaws that this policy finds in addition to OpenSSL's.
    ///
    /// - Parameters:
    ///   - path: The path, leaf first.
    ///   - isSystem: A Boolean value that indicates whether the path ends in one of the system's roots.
    ///   - instant: The time at which the path has to be valid.
    func flaws(of path: [SecCertificate], isSystem: Bool, at instant: Date) -> [Flaw] {
        basicFlaws(of: path) + serverFlaws(of: path, isSystem: isSystem, at: instant)
    }

    private func basicFlaws(of path: [SecCertificate]) -> [Flaw] {
        var flaws: [Flaw] = []
        for (depth, certificate) in path.enumerated() {
            let isAnchor = depth == path.count - 1
            if depth > 0, certificate.hasUnsupportedConstraint(for: path[0], isAnchor: isAnchor) {
                flaws.append(Flaw(.compliance, errSecInvalidName))
            }
            if !certificate.hasKey(rsa: 1_024, ellipticCurve: 192, edwards: true) {
                flaws.append(Flaw(.keySize, errSecUnsupportedKeySize))
            }
            if certificate.isSignedOver(.md5), !certificate.isSelfIssued {
                flaws.append(Flaw(.weakHash, errSecInvalidDigestAlgorithm))
            }
            if certificate.lacksSubject { flaws.append(Flaw(.compliance, errSecInvalidSubjectName)) }
        }
        for (certificate, issuer) in zip(path, path.dropFirst()) where !certificate.namesKey(of: issuer) {
            flaws.append(Flaw(.compliance, errSecInvalidIDLinkage))
        }
        return flaws
    }

    private func serverFlaws(of path: [SecCertificate], isSystem: Bool, at instant: Date) -> [Flaw] {
        guard case .server(let host, let pins) = rules, let leaf = path.first, let root = path.last else { return [] }
        var flaws: [Flaw] = []
        for certificate in path {
            // A user's setting applies to one policy.
            if StandIn.isDenied(certificate.der) { flaws.append(Flaw(.denied, errSecTrustSettingDeny)) }
            flaws += StandIn.flaws(in: certificate.der)
            // The rules for servers list no length for other kinds of key, so they accept none of them.
            if !certificate.hasKey(rsa: 2_048, ellipticCurve: 256, edwards: false) {
                flaws.append(Flaw(.keySize, errSecUnsupportedKeySize))
            }
            if certificate.isSignedOver(.sha1), !certificate.isSelfIssued {
                flaws.append(Flaw(.weakHash, errSecInvalidDigestAlgorithm))
            }
        }
        if leaf.isValidTooLong(isSystem: isSystem) {
            flaws.append(Flaw(.compliance, errSecCertificateValidityPeriodTooLong))
        }
        if isSystem, StandIn.requiresTransparency(root.der), leaf.isValid(at: instant) {
            flaws.append(Flaw(.compliance, errSecVerifyActionFailed))
        }
        let isOld = leaf.notBefore < SecCertificate.july2019 && !isSystem
        let authorities = path.dropFirst().dropLast()
        if !leaf.isForServers(strictly: !isOld) || !authorities.allSatisfy({ $0.isForServers(strictly: false) }) {
            flaws.append(Flaw(.usage, errSecInvalidExtendedKeyUsage))
        }
        // Each list that the Info.plist has for the host must have a key of the path.
        let keys: [PinnedDomain.List: [SecCertificate]] = [.leaf: [leaf], .authority: Array(path.dropFirst())]
        for (list, pins) in pins where !keys[list, default: []].contains(where: { pins.contains($0.keyDigest) }) {
            flaws.append(Flaw(.pinning, errSSLATSCertificateTrustViolation))
        }
        if !leaf.isFor(host) { flaws.append(Flaw(.name, errSecHostNameMismatch)) }
        return flaws
    }
}
