internal import COpenSSL

/// The errors in OpenSSL's queue of this thread, oldest first.
package struct LibraryErrors: Sendable {
    private struct Entry {
        let library: CInt
        let reason: CInt
        let text: String
    }

    private let entries: [Entry]

    /// Removes and returns the errors of this thread's queue.
    package static func drain() -> LibraryErrors {
        var entries: [Entry] = []
        while case let code = ERR_get_error(), code != 0 {
            guard entries.count < 16 else { continue }
            let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
            entries.append(Entry(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: text))
        }
        return LibraryErrors(entries: entries)
    }

    /// The alert that the peer sent; OpenSSL queues an alert as an error reason.
    package var peerAlert: UInt8? {
        for entry in entries where entry.library == ERR_LIB_SSL {
            if let alert = UInt8(exactly: entry.reason - SSL_AD_REASON_OFFSET) { return alert }
        }
        return nil
    }

    /// Returns whether OpenSSL's TLS part reported this `SSL_R_...` reason.
    package func contains(_ reason: CInt) -> Bool {
        entries.contains { $0.library == ERR_LIB_SSL && $0.reason == reason }
    }

    /// A Boolean value that indicates whether the encoding of a certificate caused the error.
    package var areAboutEncoding: Bool {
        entries.contains { [ERR_LIB_ASN1, ERR_LIB_X509, ERR_LIB_X509V3].contains($0.library) }
            || contains(SSL_R_CERT_LENGTH_MISMATCH) || contains(SSL_R_LENGTH_MISMATCH)
    }

    /// OpenSSL's text for the first error, which usually caused the others.
    package var summary: String { entries.first?.text ?? "no reason given" }
}
