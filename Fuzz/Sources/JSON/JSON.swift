@testable import Pintle
@testable import PintlePolicyFile

/// A parsed document is printed in a form that parses to the same document. An error has a place inside the text.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    do throws(JSONError) {
        let once = try written(JSONDocument(input))
        guard try written(JSONDocument(once)) == once else { fatalError("reads differently after writing") }
    } catch {
        guard error.place.line >= 1, error.place.column >= 1, error.place.line <= count + 1 else {
            fatalError("place outside of the text")
        }
    }
    return 0
}

private func written(_ document: JSONDocument) -> [UInt8] {
    var writer = JSONWriter(.compact)
    write(document.root, to: &writer)
    return writer.bytes
}

private func write(_ value: JSONValue, to writer: inout JSONWriter) {
    if let members = value.members {
        writer.object { writer in
            for member in members {
                writer.key(member.key.string ?? "")
                write(member.value, to: &writer)
            }
        }
    } else if let elements = value.elements {
        writer.array { writer in
            for element in elements { write(element, to: &writer) }
        }
    } else if let text = value.string {
        writer.value(text)
    } else if let number = value.integer {
        writer.value(Int(number))
    } else if let boolean = value.boolean {
        writer.value(boolean)
    } else {
        writer.null()
    }
}
