import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintleTools

@Suite("Completion scripts")
struct CompletionScriptTests {
    private static let shells = CompletionScript.Shell.allCases

    private static func program(_ shell: CompletionScript.Shell) -> String? {
        ["/usr/bin/\(shell.rawValue)", "/bin/\(shell.rawValue)"].first(where: InputFile.exists)
    }

    private static func text(_ shell: CompletionScript.Shell) -> String {
        CompletionScript.text(for: shell, commands: Command.all)
    }

    @Test("Each script names every option of every command, in both spellings", arguments: shells)
    func everyOption(shell: CompletionScript.Shell) {
        let lines = Self.text(shell).split(separator: "\n")
        for command in Command.all {
            for option in command.options {
                let spellings: [String] =
                    switch shell {
                    case .bash: ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
                    case .zsh: ["--\(option.name)"] + (option.short.map { ["-\($0)["] } ?? [])
                    case .fish: ["-l \(option.name)"] + (option.short.map { ["-s \($0)"] } ?? [])
                    }
                for spelling in spellings {
                    #expect(lines.contains { $0.contains(spelling) }, "\(command.name) \(spelling)")
                }
            }
        }
    }

    @Test("Each shell that is installed parses its script without a message", arguments: shells)
    func syntax(shell: CompletionScript.Shell) throws {
        guard let program = Self.program(shell) else {
            print("skipped: \(shell.rawValue) is not installed")
            return
        }
        let directory = try TemporaryDirectory()
        let script = directory.path(of: "script")
        try OutputFile.replace(script, Array(Self.text(shell).utf8))
        let result = try runProcess([program, "-n", script], input: [])
        #expect(result.status == 0 && result.errorOutput.isEmpty, "\(result.errorOutput)")
    }

    @Test(
        "bash completes commands, options, values and files",
        arguments: [
            (["ch"], "check"), (["check", "--po"], "--policy"), (["pin", "--as", "ok"], "okhttp"),
            (["pin", "--as", "=", "ok"], "okhttp"),
            (["pin", "--as", "="], "policy swift ats nsc okhttp trustkit curl pem"),
            (["trust", "ap"], "approve"), (["rehearse", "--group", "red"], "redirect"),
            (["rehearse", "--resolve-by", ""], "client hosts"), (["help", "au"], "audit"),
            (["--generate-completion-script", "f"], "fish"),
            (["check", "--policy", "FOLDER/a"], "FOLDER/a policy.json"),
            (["sign", "-o", "FOLDER/a"], "FOLDER/a policy.json"), (["lint", "FOLDER/a"], "FOLDER/a policy.json"),
            (["rehearse", "--", "FOLDER/a"], "FOLDER/a policy.json"), (["check", "--at", "FOLDER/a"], ""),
            (["nothing", "--p"], ""),
        ])
    func bash(words: [String], expected: String) throws {
        let directory = try TemporaryDirectory()
        let (script, folder) = (directory.path(of: "script"), directory.path(of: ""))
        try OutputFile.replace(script, Array(Self.text(.bash).utf8))
        try OutputFile.replace(directory.path(of: "a policy.json"), [])
        let program = try #require(Self.program(.bash))
        let line = words.map { $0.replacing("FOLDER/", with: folder) }
        let result = try runProcess(
            [
                program, "--norc", "-c",
                #"f=$1; shift; . "$f"; COMP_WORDS=(pintle "$@"); COMP_CWORD=$#; _pintle; IFS=" "; printf %s "${COMPREPLY[*]}""#,
                "-", script,
            ] + line, input: [])
        #expect(result.errorOutput.isEmpty)
        #expect(String(decoding: result.stdout, as: UTF8.self) == expected.replacing("FOLDER/", with: folder))
    }

    @Test(
        "fish completes options and values", .enabled(if: program(.fish) != nil, "skipped: fish is not installed"),
        arguments: [
            ("check --po", "--policy"), ("pin --as ok", "okhttp"), ("trust ap", "approve"),
            ("rehearse --group red", "redirect"),
            ("help au", "audit"),
        ])
    func fish(line: String, expected: String) throws {
        let directory = try TemporaryDirectory()
        let script = directory.path(of: "script")
        try OutputFile.replace(script, Array(Self.text(.fish).utf8))
        let program = try #require(Self.program(.fish))
        let result = try runProcess(
            [
                "/usr/bin/env", "HOME=\(directory.path(of: ""))", program, "--no-config", "-c",
                "source $argv[1]; complete -C \"pintle $argv[2]\"", script, line,
            ],
            input: [])
        let first = String(decoding: result.stdout, as: UTF8.self).prefix { $0 != "\t" && $0 != "\n" }
        #expect(first == expected, "\(result.errorOutput)")
    }

    @Test("A placeholder with a colon does not become an action of zsh")
    func zshPlaceholders() {
        #expect(Self.text(.zsh).contains(#"]:HOST\:PORT:'"#))
        #expect(!Self.text(.zsh).contains("HOST:PORT"))
    }
}
