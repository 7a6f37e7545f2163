/// One block of a PEM file (RFC 7468).
package struct PEMBlock: Sendable, Equatable {
    /// What stands between `BEGIN` and the dashes: `CERTIFICATE`, `PUBLIC KEY`, `PRIVATE KEY`,
    /// `ENCRYPTED PRIVATE KEY`, `CERTIFICATE REQUEST`...
    ///
    /// `TRUSTED CERTIFICATE` is OpenSSL's own: after the certificate's DER come its trust settings, so `bytes` is not
    /// one DER value.
    package let label: String
    /// Whether `bytes` means to be a certificate and nothing else: `CERTIFICATE`, or the older `X509 CERTIFICATE`.
    package var isCertificate: Bool { label == "CERTIFICATE" || label == "X509 CERTIFICATE" }
    /// The decoded content, DER for every label in use; never empty. Variable, so that it can be wiped.
    package var bytes: [UInt8]
    /// Counts the blocks of the file, from 1, those that could not be read included.
    package let number: Int
    /// The line of `-----BEGIN`, from 1.
    package let line: Int

    package init(label: String, bytes: [UInt8], number: Int, line: Int) {
        self.label = label
        self.bytes = bytes
        self.number = number
        self.line = line
    }
}

/// Why a block could not be read. A reader that skipped it in silence would leave fewer certificates than its owner
/// thinks there are.
package struct PEMError: Error, Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        /// A line that means to be a boundary and is not one: dashes missing, indented, quoted, in lower case, two of
        /// them on one line.
        case malformedBoundary
        /// `END` without `BEGIN`.
        case unexpectedEnd
        /// `END` names another label than `BEGIN`.
        case labelMismatch(begin: String, end: String)
        /// The file, or the next block, comes before `END`.
        case unterminated
        case invalidBase64
        case empty
        /// `Proc-Type: 4,ENCRYPTED`: a private key in OpenSSL's old encrypted form.
        case encryptedLegacyKey
        /// Other header lines (RFC 1421), which RFC 7468 does not have.
        case headers
        case tooLarge(maximum: Int)
        /// The file is UTF-16.
        case notASCII
        /// Control bytes outside of blocks, as DER has them, and UTF-16 without its mark.
        case notText
        /// What looks like the content of a block, without its boundaries.
        case strayBase64
    }

    package let reason: Reason
    /// As in `PEMBlock`; where no block is open, the number that the next one would have.
    package let block: Int
    /// The line to look at, from 1.
    package let line: Int
    /// One line, lower case, no full stop; names neither block nor line.
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
    /// The strict form of RFC 7468 (figure 3): lines of 64 characters, LF, a line break at the end.
    package static func text(label: String, bytes: some Sequence<UInt8>) -> String {
        let base64 = Array(Base64.encode(bytes).utf8)
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: base64.count, by: 64) {
            text += String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
