import Pintle
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

@Suite("Arguments")
struct ArgumentTests {
    @Test("The tool without arguments explains itself in at most 24 lines")
    func overview() {
        let run = ToolRun()
        #expect(run.code == 0)
        #expect(run.lines.count <= 25)
        #expect(run.output.contains("pintle pin example.com"))
        #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(run.errors.isEmpty)
    }

    @Test("Help on help prints the overview")
    func helpOnHelp() {
        #expect(ToolRun("help", "help").output == ToolRun("help").output)
    }

    @Test("The version fits on one line")
    func version() {
        #expect(ToolRun("--version").output == "\(CommandLineTool.version)\n")
    }

    @Test(
        "The help of a command opens with worked examples",
        arguments: [["help", "pin"], ["pin", "--help"], ["pin", "-h"]])
    func help(arguments: [String]) {
        let run = ToolRun(arguments: arguments)
        #expect(run.code == 0)
        #expect(run.output.hasPrefix("EXAMPLES\n  pintle pin example.com\n"))
        #expect(run.output.contains("--as FORM"))
        #expect(run.output.contains("(values: policy, "))
        #expect(run.lines.allSatisfy { $0.count <= 80 })
    }

    @Test(
        "An unusable command line exits with 2, and the error names the nearest word and where to find help",
        arguments: [
            (["pni", "x"], "unknown command pni; did you mean pin?", "pintle help"),
            (["--verison"], "unknown option --verison; did you mean --version?", "pintle help"),
            (["hlep"], "unknown command hlep; did you mean help?", "pintle help"),
            (["pin", "--jsno", "x"], "unknown option --jsno for 'pin'; did you mean --json?", "pintle help pin"),
            (["pin", "-x", "x"], "unknown option -x for 'pin'", "pintle help pin"),
            (["pin"], "SOURCE is missing", "pintle help pin"),
            (["pin", "x", "--as"], "--as needs a value: --as FORM", "pintle help pin"),
            (["pin", "x", "--as", "--json"], "--as needs a value: --as FORM", "pintle help pin"),
            (["pin", "x", "--as="], "the value of --as is empty: --as FORM", "pintle help pin"),
            (["pin", "x", "--as", "polcy"], "did you mean policy? (values: policy, swift, ", "pintle help pin"),
            (["pin", "x", "--json=1"], "--json takes no value", "pintle help pin"),
            (["pin", "x", "--as", "swift", "--as", "curl"], "--as is given twice", "pintle help pin"),
            (["pin", "-", "-"], "- is given twice", "pintle help pin"),
        ])
    func usageError(arguments: [String], message: String, help: String) {
        let run = ToolRun(arguments: arguments)
        #expect(run.code == 2)
        #expect(run.output.isEmpty || arguments.contains("--json"))
        #expect(run.errors.hasPrefix("pintle: error: "))
        #expect(run.errors.contains(message))
        #expect(run.errors.hasSuffix("pintle: hint: see '\(help)'\n"))
    }

    @Test("With --json, the tool also prints a usage error as a document to standard output")
    func usageErrorAsJSON() throws {
        let run = ToolRun("pin", "--jsno", "--json")
        #expect(run.code == 2)
        let error = try run.json()["error"]
        #expect(ToolRun.keys(error) == ["code", "message", "hint"])
        #expect(error?["code"]?.string == "unknown-option")
    }

    @Test("After --, every word is an argument")
    func terminator() {
        #expect(ToolRun("pin", "--", "--no.pem").errors.hasPrefix("pintle: error: --no.pem: no such file"))
    }

    @Test("Each shell's completion script comes from the same descriptions", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) {
        let run = ToolRun("--generate-completion-script", shell)
        #expect(run.code == 0)
        #expect(run.output.contains("policy swift ats nsc okhttp trustkit curl"))
        #expect(run.output.contains("verbose"))
        #expect(ToolRun("--generate-completion-script=\(shell)").output == run.output)
    }

    @Test("The name of an unknown shell is a usage error")
    func unknownShell() {
        #expect(ToolRun("--generate-completion-script", "tcsh").code == 2)
    }
}
