import Testing

@testable import Pintle

/// Tests arithmetic for systems with a 32-bit `Int`, such as older watches, by using `Int32` here.
@Suite("32-bit integers")
struct NarrowIntegerTests {
    @Test(
        "A length above the number of remaining octets is refused, whatever the integer width",
        arguments: [6, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32])
    func longElement(_ length: UInt32) {
        #expect(DERReader.count(length, within: Int32(5)) == nil)
        #expect(DERReader.count(length, within: Int64(5)) == nil)
    }

    @Test("A length equal to the number of remaining octets is accepted, whatever the integer width")
    func wholeElement() {
        #expect(DERReader.count(5, within: Int32(5)) == 5)
        #expect(DERReader.count(5, within: Int64(5)) == 5)
        #expect(DERReader.count(0x7FFF_FFFF, within: Int32.max) == Int32.max)
        #expect(DERReader.count(UInt32.max, within: Int64(UInt32.max)) == Int64(UInt32.max))
    }
}
