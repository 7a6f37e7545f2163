/// One block of a PEM file (RFC 7468).
package struct PEMBlock: Sendable, Equatable {
    /// The text after `BEGIN`: `CERTIFICATE`, `PUBLIC KEY`, `PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`, `CERTIFICATE
    /// REQUEST`...
    ///
    /// OpenSSL's own `TRUSTED CERTIFICATE` has trust settings after the certificate's DER, so its `bytes` are not one
    /// DER value.
    package let label: String
    /// A Boolean value that indicates whether the label promises a certificate and nothing else: `CERTIFICATE`, or the
    /// older `X509 CERTIFICATE`.
    package var isCertificate: Bool { label == "CERTIFICATE" || label == "X509 CERTIFICATE" }
    /// The decoded content: DER for all common labels, never empty. It is a variable so that the caller can wipe it.
    package var bytes: [UInt8]
    /// The number of the block in the file, counted from 1, including blocks that could not be read.
    package let number: Int
    /// The line number of `-----BEGIN`, counted from 1.
    package let line: Int

    package init(label: String, bytes: [UInt8], number: Int, line: Int) {
        self.label = label
        self.bytes = bytes
        self.number = number
        self.line = line
    }
}

/// The reason why a block could not be read. Skipping the block instead would leave the owner with fewer certificates
/// than expected.
package struct PEMError: Error, Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        /// A line that resembles a boundary but is not one: dashes are missing, or it is indented, quoted, in lower
        /// case, or holds two boundaries.
        case malformedBoundary
        /// An `END` without a `BEGIN`.
        case unexpectedEnd
        /// The `END` has another label than the `BEGIN`.
        case labelMismatch(begin: String, end: String)
        /// The file ends, or the next block begins, before the `END`.
        case unterminated
        case invalidBase64
        case empty
        /// A private key in OpenSSL's old encrypted form, `Proc-Type: 4,ENCRYPTED`.
        case encryptedLegacyKey
        /// Other header lines (RFC 1421), which RFC 7468 does not allow.
        case headers
        case tooLarge(maximum: Int)
        /// The file is UTF-16.
        case notASCII
        /// Control bytes outside of blocks, as in DER or in UTF-16 without a byte-order mark.
        case notText
        /// Base64 that resembles the content of a block, but without boundaries.
        case strayBase64
    }

    package let reason: Reason
    /// The block's number as in `PEMBlock`. Between blocks, the number of the next block.
    package let block: Int
    /// The line of the mistake, counted from 1.
    package let line: Int
    /// The reason on one line, in lower case and without a full stop. It names neither block nor line.
    package let message: String
    package let hint: String?
}

extension PEMError: CustomStringConvertible {
    package var description: String {
        let head = "line \(line): block \(block): \(message)"
        return hint.map { "\(head); \($0)" } ?? head
    }
}

extension PEMBlock {
    /// Returns a PEM block in the strict form of RFC 7468 (figure 3): lines of 64 characters, LF, and a line break at
    /// the end.
    package static func text(label: String, bytes: some Sequence<UInt8>) -> String {
        let base64 = Array(Base64.encode(bytes).utf8)
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: base64.count, by: 64) {
            text += String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
