import Glibc
import PintleTestKit
import Testing

@testable import PintleConsole

/// The picture in the README, which shows scene 4 of the demonstration and its twin.
@Suite("Picture of the demonstration")
struct DemoPictureTests {
    private static let place = ".github/scene4.svg"

    @Test("The picture shows what pintle demo prints; $PINTLE_WRITE_PICTURE writes it again")
    func scene() throws {
        let run = ToolRun("demo")
        #expect(run.code == 0, "\(run.errors)")
        let first = try #require(run.lines.firstIndex { $0.hasPrefix(" 4 ") })
        let svg = Self.picture(of: ["$ pintle demo"] + run.lines[first...].prefix(2))
        if getenv("PINTLE_WRITE_PICTURE") != nil {
            try OutputFile.replace("\(Recipes.root)/\(Self.place)", Array(svg.utf8))
        }
        #expect(try Recipes.file(Self.place).elementsEqual(svg.utf8), "\(svg)")
        let readme = String(decoding: try Recipes.file("README.md"), as: UTF8.self)
        #expect(readme.contains("](\(Self.place))"))
    }

    /// Returns lines of a terminal, in light or dark colours. A page that shows the picture has no style for it.
    private static func picture(of lines: [some StringProtocol]) -> String {
        let (column, height) = (8.4, 22.0)
        let width = Double(lines.map(\.count).max() ?? 0) * column + 32
        let texts = lines.enumerated().map { index, line in
            let kind = line.contains("REJECTED") ? "good" : line.contains("trusted ") ? "warning" : "faint"
            return SVG.text(String(line), x: 16, y: 32 + Double(index) * height, kind)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 \(SVG.number(width)) \(SVG.number(Double(lines.count) * height + 28))" \
            role="img" aria-label="\(HTMLText.escape(lines.joined(separator: "; ")))">
            <style>
            rect { fill: #f6f8fa; stroke: #d0d7de } text { font: 14px ui-monospace, monospace; white-space: pre }
            .good { fill: #18692e } .warning { fill: #8a5200 } .faint { fill: #59636e }
            @media (prefers-color-scheme: dark) { rect { fill: #1c2229; stroke: #3a424b }
              .good { fill: #7cc990 } .warning { fill: #e2b15f } .faint { fill: #9aa4ae } }
            </style>
            \(SVG.rectangle(x: 0.5, y: 0.5, width: width - 1, height: Double(lines.count) * height + 27, "rx=\"6\""))
            \(texts.joined(separator: "\n"))
            </svg>

            """
    }
}
