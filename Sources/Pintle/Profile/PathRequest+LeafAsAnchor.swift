#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PathRequest {
    /// A Boolean value that indicates whether the request names the leaf itself as an anchor. An approved server's
    /// certificate is one, and so is a self-signed certificate that a rule has as its anchor.
    package var namesLeafAsAnchor: Bool { anchors.certificates.contains(chain.leaf) }

    /// Returns what is wrong with the leaf where it is its own anchor: dates, name, strength of the key and fields.
    ///
    /// For platforms whose rules for public servers refuse certificates that people make by hand. Those are then
    /// validated without these rules, and this says what is left to check. Failures that a person has accepted are no
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
    /// Returns whether a subject alternative name is this host (RFC 9525 section 6). The common name does not count.
    ///
    /// A wildcard stands for exactly one label, and not for all names below a top-level domain.
    package func isFor(_ host: ServerName) -> Bool {
        let names = subjectAlternativeNames ?? []
        if let address = host.ipAddress {
            return names.contains { name in
                guard case .ipAddress(let octets) = name else { return false }
                return octets.elementsEqual(address.octets)
            }
        }
        let text = host.description
        let parent = text.firstIndex(of: ".").map { text[text.index(after: $0)...] } ?? ""
        return names.contains { name in
            guard case .dns(let octets) = name, let pattern = DNSPattern(octets) else { return false }
            guard pattern.isWildcard else { return pattern.suffix == text }
            return pattern.suffix.contains(".") && pattern.suffix == parent
        }
    }
}
