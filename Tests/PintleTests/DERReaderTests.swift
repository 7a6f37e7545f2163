import Testing

@testable import Pintle

@Suite("DER elements")
struct DERReaderTests {
    private static func element(_ bytes: [UInt8]) throws(DERError) -> DERElement {
        var reader = DERReader(0..<bytes.count)
        let element = try reader.next(in: bytes, reading: "element")
        try reader.finish(reading: "element")
        return element
    }

    @Test(
        "The reader accepts every form of a length that DER allows",
        arguments: [
            ([0x04, 0x00], 0, 2..<2), ([0x04, 0x01, 9], 0, 2..<3), ([0x04, 0x7F], 127, 2..<129),
            ([0x04, 0x81, 0x80], 128, 3..<131), ([0x04, 0x81, 0xFF], 255, 3..<258),
            ([0x04, 0x82, 0x01, 0x00], 256, 4..<260),
            ([0x04, 0x83, 0x01, 0x00, 0x00], 65_536, 5..<65_541),
        ] as [([UInt8], Int, Range<Int>)])
    func lengths(_ header: [UInt8], _ zeros: Int, _ contents: Range<Int>) throws {
        let bytes = header + [UInt8](repeating: 0, count: zeros)
        #expect(try Self.element(bytes).contents == contents)
    }

    @Test(
        "The reader refuses every other form, with the reason",
        arguments: [
            ([], 0, .truncated), ([0x04], 0, .truncated), ([0x04, 0x01], 0, .truncated),
            ([0x04, 0x7F, 0], 0, .truncated),
            ([0x04, 0x81], 0, .truncated), ([0x04, 0x82, 0x01], 0, .truncated), ([0x04, 0x81, 0x80, 0], 0, .truncated),
            ([0x04, 0x84, 0x7F, 0xFF, 0xFF, 0xFF], 0, .truncated),
            ([0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], 0, .truncated),
            ([0x30, 0x80, 0, 0], 0, .indefiniteLength), ([0x04, 0x81, 0x00], 0, .nonMinimalLength),
            ([0x04, 0x81, 0x7F], 127, .nonMinimalLength),
            ([0x04, 0x82, 0x00, 0x80], 128, .nonMinimalLength),
            ([0x04, 0x83, 0x00, 0x01, 0x00], 256, .nonMinimalLength),
            ([0x04, 0x84, 0x00, 0x01, 0x00, 0x00], 65_536, .nonMinimalLength),
            ([0x04, 0x85, 0, 0, 0, 0, 1, 9], 0, .lengthTooLarge), ([0x04, 0xFF], 127, .lengthTooLarge),
            ([0x1F, 0x01, 0x00], 0, .highTagNumber), ([0xBF, 0x81, 0x01, 0x00], 0, .highTagNumber),
            ([0x04, 0x00, 0x00], 0, .trailingData),
        ] as [([UInt8], Int, DERError.Reason)])
    func refused(_ header: [UInt8], _ zeros: Int, _ reason: DERError.Reason) {
        let bytes = header + [UInt8](repeating: 0, count: zeros)
        let error = DERError.thrown { () throws(DERError) in _ = try Self.element(bytes) }
        #expect(error?.reason == reason)
    }

    @Test("A tag number of 30 is accepted, and 31 is refused")
    func highestTag() throws {
        #expect(try Self.element([0x1E, 0x00]).tag == 0x1E)
        #expect(try Self.element([0xBE, 0x00]).tag == 0xBE)
    }

    @Test("An element must not extend beyond its parent")
    func bounds() throws {
        let bytes: [UInt8] = [0x30, 0x03, 0x04, 0x02, 0xAA, 0xBB]
        var outer = DERReader(0..<5)
        let inner = try outer.next(in: [0x30, 0x03, 0x04, 0x01, 0xAA, 0xBB], reading: "outer")
        #expect(inner.range == 0..<5)
        var tooLong = DERReader(2..<5)
        let error = DERError.thrown { () throws(DERError) in
            _ = try tooLong.next(in: bytes, reading: "inner")
        }
        #expect(error == DERError(.truncated, at: 2, reading: "inner"))
    }

    @Test("An element with the wrong tag is refused with its offset, and the right tag is accepted")
    func unexpectedTag() throws {
        let bytes = DERBytes.sequence(DERBytes.null)
        var reader = DERReader(0..<bytes.count)
        let error = DERError.thrown { () throws(DERError) in
            _ = try reader.next(DERTag.set, in: bytes, reading: "list")
        }
        #expect(error == DERError(.unexpectedTag, at: 0, reading: "list"))
        #expect(error?.description == "list at byte 0 has another type than the one that belongs here")
        var again = DERReader(0..<bytes.count)
        #expect(try again.next(DERTag.sequence, in: bytes, reading: "list").count == 2)
    }

    @Test("A missing optional element does not move the reader")
    func optional() throws {
        let bytes = DERBytes.null
        var reader = DERReader(0..<bytes.count)
        #expect(try reader.nextIfPresent(DERTag.boolean, in: bytes, reading: "flag") == nil)
        #expect(reader.position == 0)
        #expect(try reader.nextIfPresent(0x05, in: bytes, reading: "nothing") != nil)
        #expect(try reader.nextIfPresent(0x05, in: bytes, reading: "nothing") == nil)
        #expect(reader.isAtEnd)
    }
}
