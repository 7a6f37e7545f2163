import Testing

@testable import Pintle

@Suite("Array spans")
struct ElementSpanTests {
    @Test(
        "The span of an array has the array's elements in order",
        arguments: [[], [7], [1, 2, 3], Array(0..<200)] as [[UInt8]])
    func elements(_ bytes: [UInt8]) {
        let span = bytes.elementSpan
        #expect(span.count == bytes.count)
        var read: [UInt8] = []
        for index in span.indices { read.append(span[index]) }
        #expect(read == bytes)
    }

    @Test("The span of an array is its own storage, not a copy")
    func storage() {
        let values: [UInt64] = [1, 2, 3]
        let place = values.withUnsafeBufferPointer { $0.baseAddress }
        let seen = values.elementSpan.withUnsafeBufferPointer { $0.baseAddress }
        #expect(seen == place)
    }

    @Test("An array keeps its elements after its span was read")
    func lifetime() {
        var texts = (0..<100).map { "text \($0)" }
        let count = texts.elementSpan.count
        texts.append("another")
        #expect(count == 100 && texts.count == 101 && texts[99] == "text 99")
    }
}
