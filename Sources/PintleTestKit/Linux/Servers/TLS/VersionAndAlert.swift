internal import COpenSSL

extension LoopbackTLSServer {
    /// A version of TLS; the raw value is the number on the wire.
    public enum Version: UInt16, Sendable, Hashable, Comparable, CaseIterable {
        case tls10 = 0x0301
        case tls11 = 0x0302
        case tls12 = 0x0303
        case tls13 = 0x0304

        public static func < (left: Version, right: Version) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// An alert (RFC 8446 section 6).
    public struct Alert: Sendable, Hashable, CustomStringConvertible {
        public let isFatal: Bool
        /// The AlertDescription: 42 is bad_certificate.
        public let code: UInt8

        public init(isFatal: Bool, code: UInt8) {
            self.isFatal = isFatal
            self.code = code
        }

        public static let closeNotify = Alert(isFatal: false, code: 0)

        /// A Boolean value that indicates whether the alert is fatal and says that the certificate was refused:
        /// bad_certificate (42) to certificate_unknown (46), unknown_ca (48) or access_denied (49), RFC 8446 section 6.2.
        package var refusesCertificate: Bool { isFatal && (42...46 ~= code || code == 48 || code == 49) }

        /// The name in RFC 8446, such as `bad_certificate`.
        public var name: String {
            let name = SSL_alert_desc_string_long(Int32(code)).map { String(cString: $0) } ?? "unknown"
            return String(name.lowercased().map { $0 == " " ? "_" : $0 })
        }

        public var description: String { "\(name) (\(code))" }
    }
}
