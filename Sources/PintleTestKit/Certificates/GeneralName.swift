#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension CertificateTemplate {
    /// One name in a subjectAltName, in name constraints or in AIA (RFC 5280 section 4.2.1.6).
    public enum GeneralName: Sendable, Hashable {
        /// A dNSName as written: wildcards, NULs, upper case and U-labels are not checked.
        case dns(String)
        /// An iPAddress: 4 or 16 octets, or twice as many with the mask in name constraints.
        case ip([UInt8])
        /// An rfc822Name.
        case email(String)
        case uri(String)
        case directory(CertificateTemplate.DistinguishedName)
        /// An otherName with a UTF8String.
        case other(DERWriter.OID, String)
        /// A whole element.
        case raw([UInt8])

        /// An iPAddress where `host` is an IPv4 or IPv6 literal, otherwise a dNSName.
        public static func host(_ host: String) -> GeneralName {
            var octets = [UInt8](repeating: 0, count: 16)
            if inet_pton(AF_INET, host, &octets) == 1 { return .ip(Array(octets.prefix(4))) }
            if inet_pton(AF_INET6, host, &octets) == 1 { return .ip(octets) }
            return .dns(host)
        }

        func write(to der: inout DERWriter) {
            switch self {
            case .other(let type, let text):
                der.context(0) { der in
                    der.oid(type)
                    der.context(0) { $0.utf8String(text) }
                }
            case .email(let text): der.context(1, .primitive, content: Array(text.utf8))
            case .dns(let text): der.context(2, .primitive, content: Array(text.utf8))
            // A CHOICE cannot be tagged implicitly, so a Name stays whole inside its tag.
            case .directory(let name): der.context(4) { name.write(to: &$0) }
            case .uri(let text): der.context(6, .primitive, content: Array(text.utf8))
            case .ip(let octets): der.context(7, .primitive, content: octets)
            case .raw(let bytes): der.raw(bytes)
            }
        }
    }
}
