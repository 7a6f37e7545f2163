@testable import Pintle
@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

/// `pintle evaluate --batch` on any lines prints one JSON object for each line that is not empty, a verdict or an
/// error. The exit code is 2 exactly if there was an error.
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
    let code = tool.run(["evaluate", "--batch"])
    let asked = input.split(separator: 0x0A).filter { !$0.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } }
    let answers = output.split(separator: 0x0A)
    guard asked.count == answers.count else { fatalError("\(answers.count) answers to \(asked.count) lines") }
    var hasError = false
    for answer in answers {
        guard let root = try? JSONDocument(Array(answer), limits: .init(allowsAnyNumber: true)).root,
            root["id"] != nil, (root["decision"] != nil) != (root["error"] != nil)
        else { fatalError("neither verdict nor error: \(String(decoding: answer, as: UTF8.self))") }
        hasError = hasError || root["error"] != nil
    }
    guard code == (hasError ? 2 : 0) else { fatalError("exit code \(code)") }
    return 0
}
