internal import Pintle

/// The file of keys: names, each followed by a certificate, a public key or a hash.
struct ChromiumKeys {
    fileprivate(set) var pins: [String: PublicKeyPin] = [:]
    fileprivate(set) var hasTimestamp = false

    /// A file without keys.
    static let none = ChromiumKeys()

    private init() {}

    init(_ bytes: [UInt8]) throws(ToolError) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var number = 0
        var name: String?
        func place() -> TextPlace { TextPlace(line: number, column: 1) }
        while number < lines.count {
            let line = String(decoding: lines[number], as: UTF8.self)
            number += 1
            if line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) { continue }
            guard let known = name else {
                guard line.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" }) else {
                    throw .unusable(
                        "unexpected-text", "\"\(line.prefix(40))\" is not the name of a key", at: place())
                }
                name = line
                continue
            }
            let start = number
            if known == "PinsListTimestamp" {
                guard UInt64(line) != nil else {
                    throw .unusable("malformed-number", "the timestamp is not a number", at: place())
                }
                hasTimestamp = true
            } else if line.hasPrefix("-----BEGIN ") {
                var end = number
                while end < lines.count, !lines[end].starts(with: Array("-----END ".utf8)) { end += 1 }
                guard end < lines.count else {
                    throw .unusable("unexpected-end", "the PEM block does not end", at: place())
                }
                number = end + 1
                let block = lines[(start - 1)...end].joined(separator: [UInt8(ascii: "\n")])
                try add(try Self.pin(Array(block), at: TextPlace(line: start, column: 1)), known, at: start)
            } else {
                try add(try ForeignValues.key(line, prefix: "sha256/", at: place()), known, at: start)
            }
            name = nil
        }
        if let name { throw .unusable("unexpected-end", "\(name) has no value", at: place()) }
    }

    private mutating func add(_ pin: PublicKeyPin, _ name: String, at line: Int) throws(ToolError) {
        guard pins.updateValue(pin, forKey: name) == nil else {
            throw .unusable(
                "duplicate-key", "a second key called \(name)", at: TextPlace(line: line, column: 1))
        }
    }

    private static func pin(_ pem: [UInt8], at place: TextPlace) throws(ToolError) -> PublicKeyPin {
        var reader = PEMReader(pem, maximumBlockSize: Certificate.maximumSize)
        do {
            if let block = try reader.next() {
                if block.isCertificate { return try Certificate(der: block.bytes).publicKeyPin }
                if block.label == "PUBLIC KEY" { return try PublicKeyPin(subjectPublicKeyInfo: block.bytes) }
            }
        } catch {
            throw .unusable("invalid-pin", "the key cannot be read: \(error)", at: place)
        }
        throw .unusable("invalid-pin", "neither a certificate nor a public key", at: place)
    }
}
