/// The Huffman code of HPACK (RFC 7541 section 5.2 and appendix B).
///
/// The code is canonical: among codes of one length the values follow the symbols, and the first code of a length
/// follows the last code of the length before. So the lengths determine all codes.
enum HPACKHuffman {
    /// The length of each symbol's code in bits, 0 to 255 and EOS.
    private static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28,
        28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6,
        6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8,
        7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7,
        7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23,
        24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22,
        23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25,
        26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24,
        20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
        27, 27, 27, 26, 30,
    ]

    private static let endOfString: UInt16 = 256
    private static let longest = 30

    /// The symbols in the order of their codes, and for each length its first code and the place of that code's symbol.
    private struct Table {
        var symbols: [UInt16] = []
        var first = [UInt32](repeating: 0, count: longest + 1)
        var place = [Int](repeating: 0, count: longest + 1)
        var count = [UInt32](repeating: 0, count: longest + 1)

        init() {
            var code: UInt32 = 0
            for length in 1...longest {
                code <<= 1
                (first[length], place[length]) = (code, symbols.count)
                for (symbol, own) in lengths.enumerated() where Int(own) == length {
                    symbols.append(UInt16(symbol))
                    code += 1
                }
                count[length] = code - first[length]
            }
        }
    }

    private static let table = Table()

    /// Returns the decoded bytes.
    ///
    /// - Throws: COMPRESSION_ERROR for EOS, for padding of more than seven bits and for padding with a zero.
    static func decode(_ bytes: ArraySlice<UInt8>) throws(HTTP2Error) -> [UInt8] {
        let table = table
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * 8 / 5)
        var code: UInt32 = 0
        var length = 0
        for byte in bytes {
            for shift in stride(from: 7, through: 0, by: -1) {
                code = code << 1 | UInt32(byte >> UInt8(shift) & 1)
                length += 1
                guard length <= longest else { throw HTTP2Error(.compressionError, "an unknown Huffman code") }
                guard code >= table.first[length], code - table.first[length] < table.count[length] else { continue }
                let symbol = table.symbols[table.place[length] + Int(code - table.first[length])]
                guard symbol != endOfString else { throw HTTP2Error(.compressionError, "EOS in a string") }
                result.append(UInt8(truncatingIfNeeded: symbol))
                (code, length) = (0, 0)
            }
        }
        guard length <= 7, code == (UInt32(1) << UInt32(length)) - 1 else {
            throw HTTP2Error(.compressionError, "bad Huffman padding")
        }
        return result
    }
}
