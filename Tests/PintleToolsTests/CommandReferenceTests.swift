import FoundationEssentials
import Glibc
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintleTools

@Suite("Command reference")
struct CommandReferenceTests {
    private static let catalogue = "\(Recipes.root)/Sources/PintleTools/PintleTools.docc"
    private static let mandoc = ["/usr/bin/mandoc", "/usr/local/bin/mandoc"].first(where: InputFile.exists)
    private static let groff = ["/usr/bin/groff", "/usr/local/bin/groff"].first(where: InputFile.exists)

    @Test("The committed pages equal the output of the tool; make reference rewrites them")
    func committedPages() throws {
        let files = CommandReference.files(.docc, of: Command.all)
        let committed = try Self.names(in: Self.catalogue).filter { $0.hasPrefix("Command") }
        #expect(committed == files.map(\.name).sorted(), "run make reference")
        for file in files {
            let content = try InputFile("\(Self.catalogue)/\(file.name)", standardInput: ByteSource([])).bytes
            #expect(
                String(decoding: content, as: UTF8.self) == file.content, "\(file.name) is stale: run make reference")
        }
    }

    @Test("Each command has a page of both kinds, and so has the tool", arguments: CommandReference.Format.allCases)
    func pages(format: CommandReference.Format) throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path(of: "reference/\(format)")
        let run = ToolRun("--generate-reference", format.rawValue, folder)
        #expect(run.code == 0)
        #expect(run.output.isEmpty && run.errors.isEmpty)
        #expect(try Self.names(in: folder) == CommandReference.files(format, of: Command.all).map(\.name).sorted())
        #expect(try Self.names(in: folder).count == Command.all.count + 1)
    }

    @Test("An unknown format and a missing folder name are usage errors")
    func usageErrors() {
        for arguments in [
            ["--generate-reference"], ["--generate-reference", "man"], ["--generate-reference", "pdf", "x"],
        ] {
            let run = ToolRun(arguments: arguments)
            #expect(run.code == 2)
            #expect(run.errors.contains("--generate-reference needs a format and a folder: docc or man, then FOLDER"))
        }
    }

    @Test("Each article that a page names exists in its catalogue, under its title")
    func articles() throws {
        for article in Article.all {
            let file = "\(Recipes.root)/Sources/\(article.module)/\(article.module).docc/\(article.name).md"
            let bytes = try InputFile(file, standardInput: ByteSource([])).bytes
            #expect(bytes.starts(with: "# \(article.title)\n".utf8), "\(file) has another title")
        }
    }

    @Test("Texts mark each option as code, and each mark has its partner", arguments: Command.all.map(\.name))
    func marks(name: String) throws {
        let command = try #require(Command.all.first { $0.name == name })
        for text in Self.texts(of: command) {
            #expect(text.count(where: { $0 == "`" }).isMultiple(of: 2), "\(text)")
            for case .words(let words) in MarkedText(text).spans {
                #expect(!words.contains("--"), "\(text)")
                #expect(!words.contains("'pintle"), "\(text)")
            }
        }
    }

    @Test("Help and completion show no marks", arguments: Command.all.map(\.name))
    func plainHelp(name: String) {
        let run = ToolRun("help", name)
        #expect(run.code == 0)
        #expect(!run.output.contains("`"))
        for shell in ["bash", "zsh", "fish"] {
            #expect(!ToolRun("--generate-completion-script", shell).output.contains("`"))
        }
    }

    @Test("A manual page has hyphens that can be copied, and no line of text reads as a macro")
    func manualLines() throws {
        let macros = ["TH", "SH", "PP", "TP", "IP", "RS", "RE", "nf", "fi", "br"]
        for file in CommandReference.files(.man, of: Command.all, at: Date(timeIntervalSince1970: 0)) {
            for line in file.content.split(separator: "\n") where !line.hasPrefix(".\\\"") {
                let copied = line.replacing("\\-", with: "").replacing("\"1970-01-01\"", with: "")
                #expect(!copied.contains("-"), "\(file.name): \(line)")
                #expect(!line.hasPrefix("'"), "\(file.name): \(line)")
                guard line.hasPrefix(".") else { continue }
                #expect(macros.contains { line == ".\($0)" || line.hasPrefix(".\($0) ") }, "\(file.name): \(line)")
            }
        }
    }

    @Test(
        "groff formats each manual page without a warning",
        .enabled(if: Self.groff != nil, "skipped: groff is not installed"))
    func manualPages() throws {
        let groff = try #require(Self.groff)
        for file in CommandReference.files(.man, of: Command.all) {
            let result = try runProcess([groff, "-man", "-Tutf8", "-ww"], input: Array(file.content.utf8))
            #expect(result.status == 0)
            #expect(result.errorOutput.isEmpty, "\(file.name): \(result.errorOutput)")
            #expect(!result.stdout.isEmpty)
        }
    }

    @Test(
        "mandoc finds nothing to warn of in a manual page",
        .enabled(if: Self.mandoc != nil, "skipped: mandoc is not installed"))
    func mandocPages() throws {
        let mandoc = try #require(Self.mandoc)
        for file in CommandReference.files(.man, of: Command.all) {
            let result = try runProcess([mandoc, "-Tlint", "-Wwarning"], input: Array(file.content.utf8))
            #expect(result.status == 0, "\(file.name): \(String(decoding: result.stdout, as: UTF8.self))")
        }
    }

    @Test("Manual pages have the day of SOURCE_DATE_EPOCH, or today's without it")
    func manualDate() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path(of: "man")
        for (environment, day) in [
            (["SOURCE_DATE_EPOCH": "1800000000"], "2027-01-15"), ([:], "2026-11-24"),
            (["SOURCE_DATE_EPOCH": "x"], "2026-11-24"),
        ] {
            let now = Date(timeIntervalSince1970: 1_795_500_000)
            let run = ToolRun("--generate-reference", "man", folder, environment: environment, now: now)
            #expect(run.code == 0)
            let page = try InputFile("\(folder)/pintle-pin.1", standardInput: ByteSource([])).bytes
            #expect(String(decoding: page, as: UTF8.self).contains(".TH PINTLE\\-PIN 1 \"\(day)\" "))
        }
    }

    @Test("A manual page lists every option with its values", arguments: Command.all.map(\.name))
    func everyOption(name: String) throws {
        let command = try #require(Command.all.first { $0.name == name })
        let page = try #require(CommandReference.files(.man, of: Command.all).first { $0.name == "pintle-\(name).1" })
        for option in command.options {
            #expect(page.content.contains("\\fB\(ManPage.escaped("--\(option.name)"))"), "--\(option.name)")
            for word in option.completions { #expect(page.content.contains(ManPage.escaped(word)), "\(word)") }
        }
    }

    @Test("The tool escapes text that groff would read as a macro, an escape or a hyphen")
    func escapes() {
        #expect(ManPage.line(".TH") == "\\&.TH")
        #expect(ManPage.line("'x") == "\\&'x")
        #expect(ManPage.line("TH") == "TH")
        #expect(ManPage.escaped("a\\b -c 'd' \"e\" ^~`") == "a\\eb \\-c \\(aqd\\(aq \\(dqe\\(dq \\(ha\\(ti\\(ga")
        #expect(ManPage.escaped("\u{E9}\u{1F600}") == "\\[u00E9]\\[u1F600]")
    }

    /// Returns the names in a folder, sorted.
    private static func names(in folder: String) throws -> [String] {
        let directory = try #require(opendir(folder))
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func texts(of command: Command) -> [String] {
        command.overview + [command.summary] + command.examples.map(\.purpose) + command.arguments.map(\.help)
            + command.options.map(\.help) + command.environment.map(\.help) + command.exitCodes.map(\.meaning)
            + command.sections.flatMap(\.blocks).flatMap(\.texts)
    }
}
