import Pintle
import PintleTestKit
import Testing

/// The transcript of the article about surveys.
@Suite("Article about surveys")
struct SurveyArticleTests {
    @Test("The transcript is what the tool prints about the client of the article")
    func transcript() throws {
        let article = String(
            decoding: try Recipes.file("Sources/PintleTools/PintleTools.docc/Unpinned.md"), as: UTF8.self)
        let blocks = article.matches(of: /```(sh|text)\n([^`]*)```/).map(\.output.2)
        let client = try #require(blocks.first { $0.hasPrefix("pin=") })
        let transcript = try #require(blocks.first { $0.hasPrefix("only connections") })
        let directory = try TemporaryDirectory()
        let script = try directory.write(String(client), to: "client.sh")
        let run = ToolRun("rehearse", "--proxy", "--survey", "--", "sh", script, "{ca}")
        #expect(run.code == 0, "\(run.errors)")
        #expect(Self.steady(run.output) == Self.steady(String(transcript)))
    }

    /// Returns a transcript without what differs from run to run, or with the version of curl.
    private static func steady(_ text: String) -> String {
        text.replacing(/[0-9]+\.[0-9] s:/, with: "0.0 s:").replacing(/Survey Root [0-9a-f]{8}/, with: "Survey Root")
            .replacing(/\ +[0-9]+\n/, with: " 0\n")
    }
}
