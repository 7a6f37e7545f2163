@testable import Pintle

/// Every parsed block is printed in the strict form and parses to the same block. After an error the reader continues,
/// and it always ends.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var reader = PEMReader(Array(UnsafeBufferPointer(start: bytes, count: count)))
    for _ in 0...count {
        do throws(PEMError) {
            guard let block = try reader.next() else { return 0 }
            let again = try PEMReader.blocks(in: Array(PEMBlock.text(label: block.label, bytes: block.bytes).utf8))
            guard again.map(\.bytes) == [block.bytes], again.map(\.label) == [block.label] else {
                fatalError("reads differently after writing")
            }
        } catch {
            guard error.line >= 1, error.line <= count + 1 else { fatalError("place outside of the text") }
        }
    }
    fatalError("more blocks than bytes")
}
