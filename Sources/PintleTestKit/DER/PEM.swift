#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Textual encodings of DER (RFC 7468).
package enum PEM {
    /// Returns one block: `-----BEGIN label-----`, base64 in lines of 64, `-----END label-----`.
    package static func encode(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(body)\(body.isEmpty ? "" : "\n")-----END \(label)-----\n"
    }

    /// Returns several certificates in a row, as in a bundle or chain file.
    package static func bundle(_ certificates: [[UInt8]]) -> String {
        certificates.map { encode($0) }.joined()
    }
}
