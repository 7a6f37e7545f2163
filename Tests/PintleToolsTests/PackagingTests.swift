import PintleTestKit
import Testing

@testable import PintleTools

@Suite("Packaging")
struct PackagingTests {
    @Test(
        "The image from the sources takes the same steps as the image from the package, which make package-test tests")
    func sameSteps() throws {
        let package = try Self.steps(of: "Containerfile")
        let source = try Self.steps(of: "Containerfile.source")
        #expect(package.count > 5)
        #expect(package.map { $0.hasPrefix("COPY ") } == source.map { $0.hasPrefix("COPY ") })
        #expect(package.filter { !$0.hasPrefix("COPY ") } == source.filter { !$0.hasPrefix("COPY ") })
    }

    @Test("The description of the package has lines of at most 80 columns, and a summary that is not a sentence")
    func description() throws {
        let lines = try Self.lines(of: "control.in")
        let summary = try #require(lines.first { $0.hasPrefix("Description: ") })
        #expect(!summary.hasSuffix(".") && summary.count <= 80)
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    /// Returns the lines of the last stage.
    private static func steps(of file: String) throws -> [String] {
        let lines = try lines(of: file)
        let start = try #require(lines.lastIndex { $0.hasPrefix("FROM ") })
        return Array(lines[start...])
    }

    private static func lines(of file: String) throws -> [String] {
        let bytes = try InputFile("\(Recipes.root)/Packaging/\(file)", standardInput: ByteSource([])).bytes
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
