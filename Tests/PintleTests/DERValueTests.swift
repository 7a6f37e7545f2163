import Testing

@testable import Pintle

@Suite("DER values")
struct DERValueTests {
    /// Parses the value of the only element. Returns the reason for an invalid one.
    private static func read<Value>(
        _ bytes: [UInt8], _ body: (DERElement, [UInt8]) throws(DERError) -> Value
    ) -> Result<Value, DERError> {
        do throws(DERError) {
            var reader = DERReader(0..<bytes.count)
            return .success(try body(try reader.next(in: bytes, reading: "value"), bytes))
        } catch {
            return .failure(error)
        }
    }

    private static let invalid = DERError(.invalidValue, at: 0, reading: "value")

    @Test("FALSE is 00 and TRUE is FF")
    func booleans() {
        let read = { (bytes: [UInt8]) in
            Self.read(bytes) { element, bytes throws(DERError) in
                try element.boolean(in: bytes, reading: "value")
            }
        }
        #expect(read([0x01, 0x01, 0x00]) == .success(false))
        #expect(read([0x01, 0x01, 0xFF]) == .success(true))
        for wrong: [UInt8] in [[0x01, 0x01, 0x01], [0x01, 0x01, 0x80], [0x01, 0x00], [0x01, 0x02, 0xFF, 0xFF]] {
            #expect(read(wrong) == .failure(Self.invalid))
        }
    }

    @Test("An INTEGER must have its shortest form")
    func integers() {
        let isRead = { (content: [UInt8]) in
            let result = Self.read([0x02, UInt8(content.count)] + content) { element, bytes throws(DERError) in
                try element.checkInteger(in: bytes, reading: "value")
            }
            if case .success = result { return true } else { return false }
        }
        for right: [UInt8] in [[0x00], [0x7F], [0x00, 0x80], [0x80], [0xFF, 0x7F], [0x01, 0x00]] {
            #expect(isRead(right), "\(right)")
        }
        for wrong: [UInt8] in [[], [0x00, 0x00], [0x00, 0x7F], [0xFF, 0x80], [0xFF, 0xFF]] {
            #expect(!isRead(wrong), "\(wrong)")
        }
    }

    @Test("A small INTEGER must not be negative or exceed an Int32")
    func smallIntegers() {
        let read = { (content: [UInt8]) in
            Self.read([0x02, UInt8(content.count)] + content) { element, bytes throws(DERError) in
                try element.smallInteger(in: bytes, reading: "value")
            }
        }
        #expect(read([0x00]) == .success(0))
        #expect(read([0x00, 0xFF]) == .success(255))
        #expect(read([0x7F, 0xFF, 0xFF, 0xFF]) == .success(2_147_483_647))
        for wrong: [UInt8] in [[0xFF], [0x80], [0x00, 0x80, 0x00, 0x00, 0x00], [0x00, 0x01]] {
            #expect(read(wrong) == .failure(Self.invalid), "\(wrong)")
        }
    }

    @Test("A BIT STRING has at most seven unused bits, all of them zero")
    func bitStrings() {
        let read = { (content: [UInt8]) in
            Self.read([0x03, UInt8(content.count)] + content) { element, bytes throws(DERError) in
                try element.bitString(in: bytes, reading: "value").count
            }
        }
        #expect(read([0x00]) == .success(0))
        #expect(read([0x00, 0xFF]) == .success(1))
        #expect(read([0x07, 0x80]) == .success(1))
        #expect(read([0x01, 0xAB, 0xFE]) == .success(2))
        for wrong: [UInt8] in [[], [0x01], [0x08, 0x00], [0xFF, 0x00], [0x07, 0xC0], [0x01, 0xFF]] {
            #expect(read(wrong) == .failure(Self.invalid), "\(wrong)")
        }
        let octets = Self.read([0x04, 0x01, 0x00]) { element, bytes throws(DERError) in
            try element.bitString(in: bytes, reading: "value")
        }
        #expect(octets == .failure(Self.invalid))
    }

    @Test("An OBJECT IDENTIFIER must have complete arcs in their shortest form")
    func objectIdentifiers() {
        let read = { (content: [UInt8]) in
            Self.read([0x06, UInt8(content.count)] + content) { element, bytes throws(DERError) in
                try element.checkObjectIdentifier(in: bytes, reading: "value")
                return OID(element, in: bytes).description
            }
        }
        #expect(read([0x55, 0x04, 0x03]) == .success("2.5.4.3"))
        #expect(read([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D]) == .success("1.2.840.113549"))
        #expect(read([0x00]) == .success("0.0"))
        #expect(read([0x27]) == .success("0.39"))
        #expect(read([0x28]) == .success("1.0"))
        #expect(read([0x88, 0x37, 0x03]) == .success("2.999.3"))
        for wrong: [UInt8] in [[], [0x80], [0x55, 0x80, 0x01], [0x80, 0x55], [0x55, 0x84], [0x55, 0x04, 0xFF]] {
            #expect(read(wrong) == .failure(Self.invalid), "\(wrong)")
        }
    }

    @Test("An arc above 64 bits is shown as a question mark, and the next arc correctly")
    func hugeArcs() {
        let largest = [UInt8](repeating: 0xFF, count: 8) + [0x7F]
        #expect(OID(octets: [0x2A] + largest + [0x05]).description == "1.2.9223372036854775807.5")
        let beyond = [UInt8](repeating: 0xFF, count: 40) + [0x7F]
        #expect(OID(octets: [0x2A] + beyond + [0x05]).description == "1.2.?.5")
        #expect(OID(octets: beyond + [0x05]).description == "?.5")
    }
}
