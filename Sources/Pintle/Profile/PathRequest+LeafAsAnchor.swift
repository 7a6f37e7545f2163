#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PathRequest {
    /// A Boolean value that indicates whether the leaf itself is one of the request's anchors. This is so for an
    /// approved server, and for a rule whose anchor is the server's self-signed certificate.
    package var namesLeafAsAnchor: Bool { anchors.certificates.contains(chain.leaf) }

    /// Returns the findings about a leaf that is its own anchor: dates, name, key strength and fields.
    ///
    /// Some platforms apply rules for public servers that refuse self-made certificates. There, such a leaf is
    /// validated without these rules, and this method checks what remains. Failures that the user has accepted are not
    /// findings.
    package func findingsOfLeafAsAnchor() -> [PathFailure.Finding] {
        let leaf = chain.leaf
        var findings = PathProfile { _ in false }.findings(
            [leaf], leafIsAnchor: true, anchorIsOfRule: namesLeafAsAnchor)
        if instant < leaf.validity.notBefore {
            findings.append(.init(.notYetValid, depth: 0, text: "the certificate is not valid yet"))
        } else if !leaf.validity.contains(instant) {
            findings.append(.init(.expired, depth: 0, text: "the certificate has expired"))
        }
        var names = LeafNames(self)
        findings += names.findings(beside: findings)
        findings.removeAll { accepts($0.code) }
        return findings
    }
}

/// A comparison of the leaf's names with the host of a request. It is made once for all paths of the request.
package struct LeafNames {
    /// The number of names that findings repeat.
    private static let mostNames = 8

    private let leaf: Certificate
    private let host: ServerName
    private lazy var areForHost = leaf.isFor(host)
    private lazy var misspelt = misspeltFindings

    package init(_ request: PathRequest) {
        (leaf, host) = (request.chain.leaf, request.host)
    }

    /// Returns the findings if no name that counts is the host, or if another check has found a mismatch.
    ///
    /// TLS libraries compare the raw text of a dNSName, so they also match names that do not count, such as those with
    /// an underscore. The names that match nothing are findings too, because one of them may have been meant.
    ///
    /// - Parameter findings: the findings of the other checks.
    package mutating func findings(beside findings: [PathFailure.Finding]) -> [PathFailure.Finding] {
        if findings.contains(where: { $0.code == .nameMismatch }) { return misspelt }
        guard !areForHost else { return [] }
        return [.init(.nameMismatch, depth: 0, text: "the certificate is not for \(host)")] + misspelt
    }

    private var misspeltFindings: [PathFailure.Finding] {
        let names = Array(leaf.misspeltNames)
        var texts = names.prefix(Self.mostNames).map(DNSPattern.refusal)
        if names.count > texts.count { texts.append("\(names.count - texts.count) more names that are not DNS names") }
        return texts.map { .init(.nameMismatch, depth: 0, text: $0) }
    }
}

extension Certificate {
    /// Returns whether the certificate has a subject alternative name for this host (RFC 9525 section 6). The common
    /// name does not count, and neither does a dNSName that is not a DNS name.
    package func isFor(_ host: ServerName) -> Bool { subjectAlternativeNames?.include(host) ?? false }
}

extension [GeneralName] {
    /// Returns whether one of the names is that of the host, as ``Certificate/isFor(_:)`` compares them.
    package func include(_ host: ServerName) -> Bool {
        if let address = host.ipAddress {
            return contains { name in
                guard case .ipAddress(let octets) = name else { return false }
                return octets.elementsEqual(address.octets)
            }
        }
        let text = host.description
        return contains { name in
            guard case .dns(let octets) = name else { return false }
            return DNSPattern(octets)?.matches(text) ?? false
        }
    }
}
