/// A reader that returns the blocks of a PEM file one after another. It follows the standard grammar of RFC 7468
/// (figure 1): base64 in lines of any length, each optionally followed by blanks; empty lines only directly after
/// `BEGIN`; LF, CRLF or CR.
///
/// The reader skips text between blocks in any encoding (RFC 7468 section 5.2): comments, the output of `openssl x509
/// -text`, and the friendly names of `openssl pkcs12`, which openssl writes with control bytes if they are not ASCII.
/// It skips nothing else. A DER or UTF-16 file that was joined to the blocks, a line that only resembles a boundary,
/// and a block that cannot be read are errors. After an error the reader continues behind the mistake, so that a caller
/// can collect all errors.
///
/// The reader holds one block at a time and takes time linear in the size of the file.
package struct PEMReader: Sendable {
    package static let defaultMaximumBlockSize = 1 << 20

    private let text: [UInt8]
    private let maximumBlockSize: Int
    private var position = 0
    private var line = 0
    private var number = 0
    /// A `BEGIN` line that ended an unterminated block. The reader reads it again as the start of the next block.
    private var pushedBack: PEMLine?
    /// A Boolean value that indicates whether a joined file was reported. It is reported once, because UTF-16 has many
    /// lines that resemble a boundary.
    private var hasReportedJoinedFile = false

    /// Creates a reader. `maximumBlockSize` limits the decoded bytes of a block.
    package init(_ text: [UInt8], maximumBlockSize: Int = PEMReader.defaultMaximumBlockSize) {
        self.text = text
        self.maximumBlockSize = maximumBlockSize
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Returns all blocks of `text`, or throws the first error.
    package static func blocks(
        in text: [UInt8], maximumBlockSize: Int = defaultMaximumBlockSize
    ) throws(PEMError) -> [PEMBlock] {
        var reader = PEMReader(text, maximumBlockSize: maximumBlockSize)
        var blocks: [PEMBlock] = []
        while let block = try reader.next() { blocks.append(block) }
        return blocks
    }

    /// Returns whether the text has a line that begins like a boundary, well formed or not.
    package static func looksLikePEM(_ text: [UInt8]) -> Bool {
        var reader = PEMReader(text)
        while let line = reader.nextLine() {
            if line.resemblesBoundary { return true }
        }
        return false
    }

    /// Returns the next block, or `nil` at the end of the file.
    package mutating func next() throws(PEMError) -> PEMBlock? {
        if position == 0, text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE]) {
            position = text.count
            throw error(.notASCII, at: 1, "the file is UTF-16", hint: "save it as ASCII or UTF-8")
        }
        while let line = nextLine() {
            guard line.resemblesBoundary else {
                try checkText(line)
                continue
            }
            switch line.boundary {
            case .begin(let label):
                number += 1
                return try readBlock(label, openedAt: line.number)
            case .end(let label):
                throw error(
                    .unexpectedEnd, next: true, at: line.number, "END \(label) without its BEGIN",
                    hint: "the start of this block is missing")
            case nil:
                number += 1
                skipRestOfBlock()
                throw malformedBoundary(line)
            }
        }
        return nil
    }

    /// Throws if a line between blocks begins a file in another encoding, or resembles part of a block.
    private mutating func checkText(_ line: PEMLine) throws(PEMError) {
        if !hasReportedJoinedFile, line.holdsControlByte && line.holdsWideDashes || holdsDER(line) {
            hasReportedJoinedFile = true
            throw error(
                .notText, next: true, at: line.number, "DER, UTF-16 or UTF-32 outside of any block",
                hint: "another file was joined to it: put that into a file of its own, or convert it to PEM")
        }
        if line.isStrayBase64 {
            throw error(
                .strayBase64, next: true, at: line.number, "base64 outside of any block",
                hint: "a certificate without its BEGIN and END lines? Export it again")
        }
        guard let stray = line.stray else { return }
        number += 1
        if stray == .begin { skipRestOfBlock() }
        throw malformedBoundary(line)
    }

    /// Returns whether a certificate, request or key in DER begins on this line, also behind text. It may go on behind
    /// the line, because its length may hold a line feed.
    private func holdsDER(_ line: PEMLine) -> Bool {
        guard line.text.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 >= 0x80 }) else { return false }
        let holdsControlByte = line.holdsControlByte
        return line.text.indices.contains { index in
            text[index] == 0x30 && Self.beginsLikeDER(text[index...], shortFormCounts: holdsControlByte)
        }
    }

    /// Returns whether the bytes begin with a SEQUENCE whose first element is a SEQUENCE, an INTEGER or an OBJECT
    /// IDENTIFIER that fits into it.
    ///
    /// - Parameter shortFormCounts: `true` to accept a SEQUENCE of less than 128 bytes. It must be whole, because its
    ///   header has only two bytes, which text may have too.
    private static func beginsLikeDER(_ bytes: ArraySlice<UInt8>, shortFormCounts: Bool) -> Bool {
        guard let (tag, length, content) = header(bytes), tag == 0x30,
            length > 127 || shortFormCounts && length <= content.count,
            let (inner, innerLength, rest) = header(content), [0x02, 0x06, 0x30].contains(inner)
        else { return false }
        return innerLength > 0 && content.count - rest.count + innerLength <= length
    }

    /// Returns the tag and length of a DER element, and the bytes behind its header. An indefinite length, which BER
    /// has, counts as the rest.
    private static func header(
        _ bytes: ArraySlice<UInt8>
    ) -> (tag: UInt8, length: Int, content: ArraySlice<UInt8>)? {
        guard let tag = bytes.first, let first = bytes.dropFirst().first else { return nil }
        guard first >= 0x80 else { return (tag, Int(first), bytes.dropFirst(2)) }
        guard first > 0x80 else { return (tag, max(128, bytes.count - 2), bytes.dropFirst(2)) }
        let count = Int(first & 0x7F)
        let octets = bytes.dropFirst(2).prefix(count)
        guard count <= 4, octets.count == count,
            let length = Int(exactly: octets.reduce(Int64(0)) { $0 << 8 | Int64($1) })
        else { return nil }
        return (tag, length, bytes.dropFirst(2 + count))
    }

    private mutating func readBlock(_ label: String, openedAt begin: Int) throws(PEMError) -> PEMBlock {
        // Most private keys fit, so that no copy of one is left behind when the array grows.
        var decoder = Base64Decoder(alphabet: .standard, capacity: 4096)
        var problem: PEMError?
        var hasContent = false
        while let line = nextLine() {
            if line.resemblesBoundary {
                if case .begin = line.boundary {
                    pushedBack = line
                    throw problem ?? unterminated(label, begin, at: line.number)
                }
                if let problem { throw problem }
                return try finish(decoder, label, begin, line)
            }
            // After an error, only look for the end of the block.
            guard problem == nil else { continue }
            let content = line.trimmed
            if content.isEmpty, !hasContent { continue }
            do throws(PEMError) {
                try feed(content, of: line, to: &decoder, isFirst: !hasContent)
            } catch {
                problem = line.stray == nil ? error : malformedBoundary(line)
            }
            hasContent = true
        }
        throw problem ?? unterminated(label, begin, at: max(line, begin))
    }

    private func feed(
        _ content: ArraySlice<UInt8>, of line: PEMLine, to decoder: inout Base64Decoder, isFirst: Bool
    ) throws(PEMError) {
        if isFirst, content.contains(UInt8(ascii: ":")) { throw headers(content, at: line.number) }
        guard !content.isEmpty else {
            throw error(.invalidBase64, at: line.number, "an empty line inside the block", hint: "remove it")
        }
        do {
            for index in content.indices { try decoder.feed(content[index], at: index - content.startIndex) }
        } catch {
            throw invalidBase64(error, at: line.number)
        }
        guard decoder.bytes.count <= maximumBlockSize else {
            throw error(
                .tooLarge(maximum: maximumBlockSize), at: line.number,
                "the block holds more than \(maximumBlockSize) bytes")
        }
    }

    private func finish(
        _ decoder: Base64Decoder, _ label: String, _ begin: Int, _ line: PEMLine
    ) throws(PEMError) -> PEMBlock {
        guard case .end(let end)? = line.boundary else { throw malformedBoundary(line) }
        guard end == label else {
            throw error(
                .labelMismatch(begin: label, end: end), at: line.number, "BEGIN \(label) is closed by END \(end)",
                hint: "part of the file is missing, or the label was changed")
        }
        let bytes: [UInt8]
        do {
            bytes = try decoder.finish(padding: .required, at: 0)
        } catch {
            throw invalidBase64(error, at: max(begin, line.number - 1))
        }
        guard !bytes.isEmpty else { throw error(.empty, at: begin, "the block holds nothing") }
        return PEMBlock(label: label, bytes: bytes, number: number, line: begin)
    }

    /// Skips to the `END` after a broken `BEGIN`, because everything up to it belongs to the same mistake.
    private mutating func skipRestOfBlock() {
        while let line = nextLine() {
            let stray = line.resemblesBoundary ? nil : line.stray
            guard stray != nil || line.resemblesBoundary else { continue }
            if stray == .begin { pushedBack = line }
            if case .begin? = line.boundary { pushedBack = line }
            return
        }
    }

    private mutating func nextLine() -> PEMLine? {
        if let line = pushedBack {
            pushedBack = nil
            return line
        }
        guard position < text.count else { return nil }
        let start = position
        while position < text.count, text[position] != 0x0A, text[position] != 0x0D { position += 1 }
        let content = text[start..<position]
        if position < text.count {
            let isCRLF = text[position] == 0x0D && position + 1 < text.count && text[position + 1] == 0x0A
            position += isCRLF ? 2 : 1
        }
        line += 1
        return PEMLine(text: content, number: line)
    }
}

// MARK: Errors

extension PEMReader {
    private func error(
        _ reason: PEMError.Reason, next: Bool = false, at line: Int, _ message: String, hint: String? = nil
    ) -> PEMError {
        PEMError(reason: reason, block: max(1, next ? number + 1 : number), line: line, message: message, hint: hint)
    }

    private func malformedBoundary(_ line: PEMLine) -> PEMError {
        let hint =
            if line.holdsTwoBoundaries {
                "two files were joined without a line break between them"
            } else if line.isIndented {
                "remove the blanks before the dashes"
            } else {
                "a boundary is -----BEGIN LABEL----- or -----END LABEL-----, on a line of its own"
            }
        return error(.malformedBoundary, at: line.number, "a broken BEGIN or END line", hint: hint)
    }

    private func unterminated(_ label: String, _ begin: Int, at line: Int) -> PEMError {
        error(
            .unterminated, at: line, "the block that begins at line \(begin) has no END \(label)",
            hint: "the file is cut off, or two were joined wrongly")
    }

    private func headers(_ content: ArraySlice<UInt8>, at line: Int) -> PEMError {
        guard content.starts(with: "Proc-Type:".utf8) else {
            return error(
                .headers, at: line, "header lines inside the block", hint: "remove them and the empty line below")
        }
        return error(
            .encryptedLegacyKey, at: line, "an encrypted private key in OpenSSL's old form",
            hint: "take its public half: openssl pkey -in FILE -pubout")
    }

    private func invalidBase64(_ cause: Base64.DecodingError, at line: Int) -> PEMError {
        let message =
            switch cause.reason {
            case .invalidCharacter, .mixedAlphabets: "a character that is not base64, column \(cause.offset + 1)"
            case .wrongPadding: "padding (=) is missing, too much, or in the middle"
            case .truncated: "the last group has only one character: the content is cut off"
            case .trailingBits: "the last character has bits set that belong to no byte"
            }
        return error(.invalidBase64, at: line, message, hint: "the block was damaged or edited; export it again")
    }
}
