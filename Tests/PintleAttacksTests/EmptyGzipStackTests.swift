import PintleTestKit
import Testing

@testable import PintleAttacks

/// The endless response of the attack `stacked-encodings`.
@Suite("Gzip inside gzip")
struct EmptyGzipStackTests {
    @Test("zlib decodes each layer without an error, to nothing and without an end", arguments: [1, 2, 12, 100])
    func decodes(depth: Int) throws {
        let stack = EmptyGzipStack(depth: depth)
        let directory = try TemporaryDirectory()
        let file = try directory.write(stack.beginning + stack.step + stack.step, to: "stack")
        let script = """
            import sys, zlib
            bytes, layers = open(sys.argv[1], "rb").read(), 0
            while bytes:
                decoder = zlib.decompressobj(31)
                bytes, layers = decoder.decompress(bytes), layers + 1
                assert not decoder.eof and not decoder.unused_data
            print(layers)
            """
        let run = try runProcess(["python3", "-c", script, file])
        #expect(run.output == "\(depth)\n", "\(run.errorOutput)")
        #expect(stack.step.count == 5 * depth)
    }
}
