@testable import Pintle

/// Elements lie inside their parent and do not overlap, and every step of the reader moves forward.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    var open = [0..<input.count]
    while let range = open.popLast() {
        var reader = DERReader(range)
        var position = range.lowerBound
        while let element = try? reader.next(in: input, reading: "element") {
            guard element.start == position, element.start < element.contentStart,
                element.contentStart <= element.end, element.end <= range.upperBound
            else { fatalError("an element outside of its parent") }
            position = element.end
            if element.tag & 0x20 != 0 { open.append(element.contents) }
            _ = try? element.smallInteger(in: input, reading: "element")
            _ = try? element.bitString(in: input, reading: "element")
            if (try? element.checkObjectIdentifier(in: input, reading: "element")) != nil {
                guard !OID(element, in: input).description.isEmpty else { fatalError("no text for an identifier") }
            }
        }
    }
    return 0
}
