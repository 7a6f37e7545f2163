internal import COpenSSL

/// The alerts that refuse a certificate (RFC 8446 section 6.2).
package enum TLSAlert: UInt8, Hashable, Sendable, CaseIterable {
    /// The certificate breaks the rules of the profile, has another name, or is not valid yet.
    case badCertificate = 42
    /// The purpose does not match.
    case unsupportedCertificate = 43
    case certificateRevoked = 44
    case certificateExpired = 45
    /// Any other refusal, above all a pin mismatch. It is the least specific alert.
    case certificateUnknown = 46
    /// The path does not end in an anchor.
    case unknownCA = 48
    /// A signature is not valid.
    case decryptError = 51

    /// The name as in RFC 8446: `unknown_ca`.
    package var name: String { Self.name(of: rawValue) }

    /// The error code that makes OpenSSL send this alert. A verification callback cannot choose an alert directly:
    /// OpenSSL translates its error code (`ssl_x509err2alert`). A code that is not in OpenSSL's table gives
    /// `certificate_unknown`.
    package var verificationError: CInt {
        switch self {
        case .badCertificate: X509_V_ERR_CERT_REJECTED
        case .unsupportedCertificate: X509_V_ERR_INVALID_PURPOSE
        case .certificateRevoked: X509_V_ERR_CERT_REVOKED
        case .certificateExpired: X509_V_ERR_CERT_HAS_EXPIRED
        case .certificateUnknown: X509_V_ERR_UNNESTED_RESOURCE
        case .unknownCA: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
        case .decryptError: X509_V_ERR_CERT_SIGNATURE_FAILURE
        }
    }

    /// Returns the name of any alert that a peer may send. Unknown alerts keep their number.
    package static func name(of code: UInt8) -> String {
        switch code {
        case 0: "close_notify"
        case 10: "unexpected_message"
        case 20: "bad_record_mac"
        case 22: "record_overflow"
        case 40: "handshake_failure"
        case 42: "bad_certificate"
        case 43: "unsupported_certificate"
        case 44: "certificate_revoked"
        case 45: "certificate_expired"
        case 46: "certificate_unknown"
        case 47: "illegal_parameter"
        case 48: "unknown_ca"
        case 49: "access_denied"
        case 50: "decode_error"
        case 51: "decrypt_error"
        case 70: "protocol_version"
        case 71: "insufficient_security"
        case 80: "internal_error"
        case 86: "inappropriate_fallback"
        case 90: "user_canceled"
        case 100: "no_renegotiation"
        case 109: "missing_extension"
        case 110: "unsupported_extension"
        case 112: "unrecognized_name"
        case 113: "bad_certificate_status_response"
        case 115: "unknown_psk_identity"
        case 116: "certificate_required"
        case 120: "no_application_protocol"
        default: "alert_\(code)"
        }
    }
}
