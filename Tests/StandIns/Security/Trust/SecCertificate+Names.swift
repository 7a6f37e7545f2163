internal import COpenSSL
internal import CPublicSuffix
internal import Foundation

/// The names of a certificate, compared as the system compares them.
extension SecCertificate {
    /// Returns `true` if the subject alternative name covers the host. Without a host every certificate does.
    func isFor(_ host: String?) -> Bool {
        guard let host, !host.isEmpty else { return true }
        return dnsNames.contains { Self.matches(host, $0) } || X509_check_ip_asc(pointer, host, 0) == 1
    }

    /// Compares label by label. A wildcard stands for the whole first label, and not above a public suffix.
    private static func matches(_ host: String, _ name: String) -> Bool {
        let host = host.hasSuffix(".") ? host.dropLast() : host[...]
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let presented = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count == presented.count else { return false }
        for (index, (label, own)) in zip(labels, presented).enumerated() {
            guard own != "*" else {
                guard index == 0, labels.count > 2, !isPublicSuffix(presented.dropFirst().joined(separator: ".")) else {
                    return false
                }
                continue
            }
            guard !own.contains("*"), own.caseInsensitiveCompare(label) == .orderedSame else { return false }
        }
        return true
    }

    private static func isPublicSuffix(_ name: String) -> Bool {
        psl_is_public_suffix2(suffixes.list, name.lowercased(), PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) == 1
    }

    private static let suffixes = Suffixes()

    /// `@unchecked`: the list is never changed and never freed.
    private final class Suffixes: @unchecked Sendable {
        let list = psl_latest(nil)
    }

    /// The names that have the form of a DNS name. One that is not UTF-8 makes the system drop all of them.
    private var dnsNames: [String] {
        guard let names = X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil) else { return [] }
        defer { GENERAL_NAMES_free(OpaquePointer(names)) }
        var found: [String] = []
        for index in 0..<max(0, OPENSSL_sk_num(OpaquePointer(names))) {
            var type: Int32 = 0
            guard let name = OPENSSL_sk_value(OpaquePointer(names), index) else { continue }
            let value = GENERAL_NAME_get0_value(name.assumingMemoryBound(to: GENERAL_NAME.self), &type)
            guard type == GEN_DNS, let value else { continue }
            let string = value.assumingMemoryBound(to: ASN1_STRING.self)
            let octets = UnsafeBufferPointer(
                start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string)))
            guard let text = String(validating: octets, as: UTF8.self) else { return [] }
            if Self.isDNSName(text) { found.append(text) }
        }
        return found
    }

    /// Letters, digits, hyphens, underscores and asterisks in labels of 1 to 63. No label begins or ends with a hyphen,
    /// and the last one has a letter, which excludes addresses.
    private static func isDNSName(_ name: String) -> Bool {
        guard name.utf8.count <= 255 else { return false }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let hyphen = UInt8(ascii: "-")
        let isFormed = labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
                && label.allSatisfy { isLetter($0) || isDigit($0) || $0 == hyphen || $0 == UInt8(ascii: "_") }
        }
        return isFormed && labels.last?.contains(where: isLetter) == true
    }

    private static func isLetter(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20) && octet >= UInt8(ascii: "A")
            || octet == UInt8(ascii: "*")
    }

    private static func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }

    // MARK: Constraints

    /// Returns `true` if name constraints about kinds of names that the system does not compare refuse a leaf: critical
    /// ones do, and ones that permit a kind of name that the leaf has.
    ///
    /// - Parameter isAnchor: A Boolean value that indicates whether the certificate is the anchor of the path. There
    ///   the system does not ask whether they are critical.
    func hasUnsupportedConstraint(for leaf: SecCertificate, isAnchor: Bool) -> Bool {
        var isCritical: Int32 = 0
        guard let value = X509_get_ext_d2i(pointer, NID_name_constraints, &isCritical, nil) else { return false }
        let constraints = value.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        let permitted = Self.unsupportedKinds(constraints.pointee.permittedSubtrees)
        let excluded = Self.unsupportedKinds(constraints.pointee.excludedSubtrees)
        if isCritical == 1, !isAnchor, !permitted.isEmpty || !excluded.isEmpty { return true }
        return !permitted.isDisjoint(with: leaf.kindsOfNames)
    }

    private static func unsupportedKinds(_ subtrees: OpaquePointer?) -> Set<Int32> {
        var kinds: Set<Int32> = []
        for index in 0..<max(0, OPENSSL_sk_num(subtrees)) {
            guard let subtree = OPENSSL_sk_value(subtrees, index),
                let base = subtree.assumingMemoryBound(to: GENERAL_SUBTREE.self).pointee.base
            else { continue }
            kinds.insert(base.pointee.type)
        }
        return kinds.subtracting([GEN_EMAIL, GEN_DNS, GEN_DIRNAME, GEN_URI, GEN_IPADD])
    }

    private var kindsOfNames: Set<Int32> {
        guard let names = X509_get_ext_d2i(pointer, NID_subject_alt_name, nil, nil) else { return [] }
        defer { GENERAL_NAMES_free(OpaquePointer(names)) }
        return Set(
            (0..<max(0, OPENSSL_sk_num(OpaquePointer(names)))).compactMap { index in
                OPENSSL_sk_value(OpaquePointer(names), index)?.assumingMemoryBound(to: GENERAL_NAME.self).pointee.type
            })
    }
}
