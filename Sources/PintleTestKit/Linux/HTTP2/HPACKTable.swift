/// A field as HPACK transports it.
struct HPACKField: Sendable, Hashable {
    let name: [UInt8]
    let value: [UInt8]

    /// The size in a table or a list (RFC 7541 section 4.1).
    var size: Int { name.count + value.count + 32 }

    init(_ name: [UInt8], _ value: [UInt8]) {
        (self.name, self.value) = (name, value)
    }

    init(_ name: String, _ value: String) {
        self.init(Array(name.utf8), Array(value.utf8))
    }
}

/// The static table and the dynamic table of a decoder, under one index (RFC 7541 section 2.3).
struct HPACKTable {
    /// The newest entry comes first.
    private(set) var entries: [HPACKField] = []
    /// The sum of the entries' sizes.
    private(set) var size = 0
    /// The maximum size, which the encoder chooses up to ``limit``.
    private(set) var maximumSize: Int
    /// SETTINGS_HEADER_TABLE_SIZE.
    let limit: Int

    init(limit: Int) {
        (self.limit, maximumSize) = (limit, limit)
    }

    /// Returns the field at an index, which begins at 1.
    func field(at index: Int) throws(HTTP2Error) -> HPACKField {
        let place = index - 1
        if HPACKTable.fixed.indices.contains(place) { return HPACKTable.fixed[place] }
        guard entries.indices.contains(place - HPACKTable.fixed.count) else {
            throw HTTP2Error(.compressionError, "index \(index) is not in the tables")
        }
        return entries[place - HPACKTable.fixed.count]
    }

    mutating func resize(to size: Int) throws(HTTP2Error) {
        guard size <= limit else { throw HTTP2Error(.compressionError, "a table of \(size) bytes") }
        maximumSize = size
        evict(for: 0)
    }

    /// Adds a field and evicts the oldest ones to make room. A field that is larger than the table empties it.
    mutating func add(_ field: HPACKField) {
        evict(for: field.size)
        guard field.size <= maximumSize else { return }
        entries.insert(field, at: 0)
        size += field.size
    }

    private mutating func evict(for space: Int) {
        while size + space > maximumSize, let oldest = entries.popLast() { size -= oldest.size }
    }

    /// The static table (RFC 7541 appendix A).
    static let fixed: [HPACKField] =
        [
            HPACKField(":authority", ""), HPACKField(":method", "GET"), HPACKField(":method", "POST"),
            HPACKField(":path", "/"), HPACKField(":path", "/index.html"), HPACKField(":scheme", "http"),
            HPACKField(":scheme", "https"), HPACKField(":status", "200"), HPACKField(":status", "204"),
            HPACKField(":status", "206"), HPACKField(":status", "304"), HPACKField(":status", "400"),
            HPACKField(":status", "404"), HPACKField(":status", "500"), HPACKField("accept-charset", ""),
            HPACKField("accept-encoding", "gzip, deflate"),
        ]
        + [
            "accept-language", "accept-ranges", "accept", "access-control-allow-origin", "age", "allow",
            "authorization", "cache-control", "content-disposition", "content-encoding", "content-language",
            "content-length", "content-location", "content-range", "content-type", "cookie", "date", "etag",
            "expect", "expires", "from", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
            "if-unmodified-since", "last-modified", "link", "location", "max-forwards", "proxy-authenticate",
            "proxy-authorization", "range", "referer", "refresh", "retry-after", "server", "set-cookie",
            "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via", "www-authenticate",
        ].map { HPACKField($0, "") }
}
