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
        var findings = PathProfile { _ in false }.findings([leaf], leafIsAnchor: true)
        if instant < leaf.validity.notBefore {
            findings.append(.init(.notYetValid, depth: 0, text: "the certificate is not valid yet"))
        } else if !leaf.validity.contains(instant), !accepts(.expired) {
            findings.append(.init(.expired, depth: 0, text: "the certificate has expired"))
        }
        if !leaf.isFor(host), !accepts(.nameMismatch) {
            findings.append(.init(.nameMismatch, depth: 0, text: "the certificate is not for \(host)"))
        }
        return findings
    }
}

extension Certificate {
    /// Returns whether the certificate has a subject alternative name for this host (RFC 9525 section 6). The common
    /// name does not count.
    ///
    /// A wildcard stands for exactly one label, and never for all names below a top-level domain.
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
        let parent = text.firstIndex(of: ".").map { text[text.index(after: $0)...] } ?? ""
        return contains { name in
            guard case .dns(let octets) = name, let pattern = DNSPattern(octets) else { return false }
            guard pattern.isWildcard else { return pattern.suffix == text }
            return pattern.suffix.contains(".") && pattern.suffix == parent
        }
    }
}
