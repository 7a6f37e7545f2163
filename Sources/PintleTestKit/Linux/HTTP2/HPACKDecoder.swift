/// Decompresses header blocks (RFC 7541). The dynamic table lives as long as the connection.
struct HPACKDecoder {
    private(set) var table: HPACKTable
    /// The limit of a block's fields together, each with 32 bytes more.
    private let listLimit: Int

    /// - Parameters:
    ///   - tableLimit: SETTINGS_HEADER_TABLE_SIZE, 4,096 by default.
    ///   - listLimit: SETTINGS_MAX_HEADER_LIST_SIZE. A block of 64 KiB could otherwise name a field of 4 KiB 65,536
    ///     times.
    init(tableLimit: Int = 4_096, listLimit: Int) {
        table = HPACKTable(limit: tableLimit)
        self.listLimit = listLimit
    }

    /// Returns the fields of a complete header block.
    ///
    /// - Throws: COMPRESSION_ERROR for malformed input, ENHANCE_YOUR_CALM for too long a list.
    mutating func fields(of block: [UInt8]) throws(HTTP2Error) -> [HPACKField] {
        var input = block[...]
        var fields: [HPACKField] = []
        var size = 0
        while let first = input.first {
            if first & 0xE0 == 0x20 {
                // The sizes precede the fields (RFC 7541 section 4.2).
                guard fields.isEmpty else { throw HTTP2Error(.compressionError, "a late change of the table's size") }
                try table.resize(to: try Self.integer(&input, prefix: 5))
                continue
            }
            let field = try next(first, &input)
            size += field.size
            guard size <= listLimit else {
                throw HTTP2Error(.enhanceYourCalm, "fields of more than \(listLimit) bytes")
            }
            fields.append(field)
        }
        return fields
    }

    /// Reads one field (RFC 7541 section 6).
    private mutating func next(_ first: UInt8, _ input: inout ArraySlice<UInt8>) throws(HTTP2Error) -> HPACKField {
        if first & 0x80 != 0 { return try table.field(at: try Self.integer(&input, prefix: 7)) }
        let isIndexed = first & 0x40 != 0
        let index = try Self.integer(&input, prefix: isIndexed ? 6 : 4)
        let name = index == 0 ? try Self.string(&input) : try table.field(at: index).name
        let field = HPACKField(name, try Self.string(&input))
        if isIndexed { table.add(field) }
        return field
    }

    /// Reads an integer (RFC 7541 section 5.1) of at most 28 bits behind its prefix.
    static func integer(_ input: inout ArraySlice<UInt8>, prefix: Int) throws(HTTP2Error) -> Int {
        guard let first = input.popFirst() else { throw HTTP2Error(.compressionError, "a truncated integer") }
        let mask = UInt8(truncatingIfNeeded: (1 << prefix) - 1)
        guard first & mask == mask else { return Int(first & mask) }
        var value = 0
        for shift in stride(from: 0, to: 28, by: 7) {
            guard let byte = input.popFirst() else { throw HTTP2Error(.compressionError, "a truncated integer") }
            value |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value + Int(mask) }
        }
        throw HTTP2Error(.compressionError, "an integer of more than 28 bits")
    }

    /// Reads a string (RFC 7541 section 5.2).
    private static func string(_ input: inout ArraySlice<UInt8>) throws(HTTP2Error) -> [UInt8] {
        let isHuffman = input.first.map { $0 & 0x80 != 0 } ?? false
        let count = try integer(&input, prefix: 7)
        guard count <= input.count else { throw HTTP2Error(.compressionError, "a truncated string") }
        let bytes = input.prefix(count)
        input = input.dropFirst(count)
        return isHuffman ? try HPACKHuffman.decode(bytes) : Array(bytes)
    }
}

/// Compresses header blocks with the static table and literals, so that it needs no state.
enum HPACKEncoder {
    /// The instruction that sets the dynamic table's size to 0 (RFC 7541 section 6.3).
    static let emptyTable: [UInt8] = [0x20]

    /// Returns a header block.
    static func block(_ fields: [HPACKField]) -> [UInt8] { fields.flatMap(encode) }

    private static func encode(_ field: HPACKField) -> [UInt8] {
        if let index = HPACKTable.fixed.firstIndex(of: field) { return integer(index + 1, prefix: 7, flags: 0x80) }
        // A literal that decoders do not index.
        let index = HPACKTable.fixed.firstIndex { $0.name == field.name }.map { $0 + 1 } ?? 0
        return integer(index, prefix: 4, flags: 0) + (index == 0 ? string(field.name) : []) + string(field.value)
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] { integer(bytes.count, prefix: 7, flags: 0) + bytes }

    private static func integer(_ value: Int, prefix: Int, flags: UInt8) -> [UInt8] {
        let mask = (1 << prefix) - 1
        guard value >= mask else { return [flags | UInt8(truncatingIfNeeded: value)] }
        var result = [flags | UInt8(truncatingIfNeeded: mask)]
        var rest = value - mask
        while rest >= 0x80 {
            result.append(UInt8(truncatingIfNeeded: rest & 0x7F | 0x80))
            rest >>= 7
        }
        return result + [UInt8(truncatingIfNeeded: rest)]
    }
}
