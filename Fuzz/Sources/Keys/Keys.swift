@testable import Pintle
@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

/// `pintle pin -` on any bytes prints pins or one error, in both cases as a JSON document on standard output with the
/// matching exit code.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    var output: [UInt8] = []
    let tool = CommandLineTool(
        environment: [:], input: ByteSource(input),
        output: ByteSink {
            output += $0
            return true
        }, errors: ByteSink { _ in true })
    let code = tool.run(["pin", "-", "--json"])
    guard let document = try? JSONDocument(output) else {
        fatalError("no JSON: \(String(decoding: output, as: UTF8.self))")
    }
    switch (code, document.root.kind) {
    case (0, .array), (2, .object): return 0
    default: fatalError("exit code \(code) with \(String(decoding: output, as: UTF8.self))")
    }
}
