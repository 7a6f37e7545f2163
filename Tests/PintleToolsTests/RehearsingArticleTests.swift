import Glibc
import Pintle
import PintleAttacks
import PintleTestKit
import Testing

/// The recipes of the article, each run as printed.
@Suite(
    "Recipes of the article about rehearsals", .serialized,
    .enabled(if: PrintedRecipe.tool != nil, "skipped: the tool was not built beside the tests"))
struct RehearsingArticleTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try #require(symlink(try #require(PrintedRecipe.tool), directory.path(of: "pintle")) == 0)
    }

    private func link(_ program: String, as name: String) throws {
        let path = directory.path(of: name)
        try directory.write("", to: name)
        unlink(path)
        try #require(symlink(program, path) == 0)
    }

    /// Runs the recipe whose client is `client`.
    private func run(_ client: String) throws -> ProcessResult {
        let recipe = try #require(try PrintedRecipe.all().first { $0.client == client })
        let search = directory.path + ":" + (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")
        // At exit, OpenSSL loses track of memory for threads that still run. The leak sanitizer would then make some
        // clients exit with 1.
        return try runProcess(
            ["bash", "-c", recipe.line], environment: ["PATH": search, "ASAN_OPTIONS": "detect_leaks=0"],
            workingDirectory: directory.path, timeout: 300)
    }

    private func expectBlocked(_ result: ProcessResult, notRun: Int = 0) throws {
        let count = try Catalogue().scenarios.count - notRun
        #expect(result.status == 0, "\(result.output) \(result.errorOutput)")
        #expect(result.output.contains("\(count) attacks"), "\(result.output)")
        #expect(
            !result.output.contains("LET THROUGH") && !result.output.contains("HELD")
                && !result.output.contains("inconclusive"))
    }

    private func names(_ outcome: String, in result: ProcessResult) -> Set<String> {
        let rows = result.output.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.contains(" \(outcome) ") }
        return Set(rows.compactMap { $0.split(separator: " ").first.map(String.init) })
    }

    @Test("These tests run each recipe of the article")
    func complete() throws {
        #expect(
            try PrintedRecipe.all().map(\.client) == [
                "curl", "curl --pinnedpubkey", "python3", "./client", "node", "java", ".build/release/client", "pintle",
            ])
    }

    @Test("curl without pins lets interceptors with a trusted authority through")
    func curl() throws {
        let result = try run("curl")
        #expect(result.status == 1)
        #expect(
            names("LET THROUGH", in: result) == RehearseTests.interceptions.union(RehearseTests.moves),
            "\(result.output)")
        #expect(names("inconclusive", in: result).isEmpty)
        // The article's counts are those that the tool prints.
        let article = String(
            decoding: try Recipes.file("Sources/PintleTools/PintleTools.docc/Rehearsing.md"), as: UTF8.self)
        func counts(_ text: String) -> Substring? {
            text.split(separator: "\n").first { $0.hasSuffix(" LET THROUGH") && $0.contains(" attacks in ") }?
                .split(separator: ": ").last
        }
        #expect(counts(article) == counts(result.output))
    }

    @Test("curl with both pins blocks every attack")
    func pinnedCurl() throws { try expectBlocked(try run("curl --pinnedpubkey"), notRun: 2) }

    @Test(
        "Python with requests cannot pin and lets interceptors through",
        .enabled(if: PrintedRecipe.works(["python3", "-c", "import requests"]), "skipped: no requests for python3"))
    func requests() throws {
        let result = try run("python3")
        #expect(result.status == 1)
        #expect(names("LET THROUGH", in: result).isSuperset(of: RehearseTests.interceptions.subtracting(["cn-only"])))
        #expect(names("inconclusive", in: result).isEmpty, "\(result.output) \(result.errorOutput)")
    }

    @Test(
        "Node blocks every attack with the program of Examples that the article names",
        .enabled(if: PrintedRecipe.works(["node", "--version"]), "skipped: Node is not installed"))
    func node() throws {
        try directory.write(try Recipes.file("Examples/clients/node-pinned.mjs"), to: "client.mjs")
        // Node's https module speaks HTTP/1.1.
        try expectBlocked(try run("node"), notRun: 4)
    }

    @Test(
        "A pinned session in Swift blocks every attack, in the program of Snippets that the article names",
        .enabled(if: PrintedRecipe.snippet != nil, "skipped: the snippet was not built beside the tests"))
    func session() throws {
        try link(try #require(PrintedRecipe.snippet), as: ".build/release/client")
        try expectBlocked(try run(".build/release/client"), notRun: 1)
    }

    @Test(
        "Go lets interceptors through unless the program pins",
        .enabled(if: PrintedRecipe.hasPeers, "skipped: make peers installs Go and runs this"))
    func go() throws {
        let build = try runProcess(
            ["go", "build", "-o", "client", "\(Recipes.root)/Examples/clients/go-plain.go"],
            workingDirectory: directory.path, timeout: 300)
        try #require(build.status == 0, "\(build.errorOutput)")
        let result = try run("./client")
        #expect(result.status == 1)
        // Go sends a request again after GOAWAY.
        let losses = RehearseTests.interceptions.subtracting(["cn-only"]).union(["goaway-moves-request"])
        #expect(names("LET THROUGH", in: result).isSuperset(of: losses))
    }

    @Test(
        "OkHttp with its CertificatePinner still follows redirects, and a JVM accepts SHA-1 below private roots",
        .enabled(if: PrintedRecipe.hasPeers, "skipped: make peers installs OkHttp and runs this"))
    func okHttp() throws {
        let jars = ["/usr/share/java/okhttp.jar", "/usr/share/java/okio.jar"]
        let source = "\(Recipes.root)/Examples/clients/OkHttpPinned.java"
        let classes = directory.path(of: "classes")
        let compiled = try runProcess(
            ["javac", "-nowarn", "-cp", jars.joined(separator: ":"), "-d", classes, source], timeout: 300)
        try #require(compiled.status == 0, "\(compiled.errorOutput)")
        try directory.write(
            "Main-Class: OkHttpPinned\nClass-Path: \(jars.map { "file:" + $0 }.joined(separator: " "))\n",
            to: "manifest")
        let packed = try runProcess(
            ["jar", "cfm", directory.path(of: "client.jar"), directory.path(of: "manifest"), "-C", classes, "."],
            timeout: 300)
        try #require(packed.status == 0, "\(packed.errorOutput)")
        let result = try run("java")
        #expect(result.status == 1)
        let named: Set<String> = ["redirect-to-unpinned-host", "redirect-to-http", "sha1-signature"]
        #expect(names("LET THROUGH", in: result) == named, "\(result.output) \(result.errorOutput)")
        #expect(names("inconclusive", in: result).isEmpty)
    }

    @Test("pintle check makes a handshake, sends no request and blocks every attack")
    func check() throws { try expectBlocked(try run("pintle"), notRun: 8) }
}

/// A command line in the article.
struct PrintedRecipe {
    let line: String
    /// The program under attack, with its option if the article has two lines for one program.
    let client: String

    private init(_ line: String) {
        self.line = line
        let words = line.split(separator: " ").drop { $0 != "--" }.dropFirst()
        let rest = words.first == "env" ? words.dropFirst(2) : words
        client = (rest.first.map(String.init) ?? "") + (rest.contains("--pinnedpubkey") ? " --pinnedpubkey" : "")
    }

    static let tool = SpawnedTool.path ?? siblingProgram("pintle")
    /// The snippet `Rehearsing.client`, which each build compiles.
    static let snippet = siblingProgram("Rehearsing")

    static let hasPeers = getenv("PINTLE_PEERS") != nil

    static func works(_ command: [String]) -> Bool { (try? runProcess(command))?.status == 0 }

    /// Returns the code blocks of a language.
    private static func blocks(_ language: String) throws -> [String] {
        let article = String(
            decoding: try Recipes.file("Sources/PintleTools/PintleTools.docc/Rehearsing.md"), as: UTF8.self)
        return article.split(separator: "```\(language)\n").dropFirst().map { part in
            String(part.split(separator: "```", omittingEmptySubsequences: false).first ?? "")
        }
    }

    static func all() throws -> [PrintedRecipe] {
        try blocks("text").flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("pintle rehearse -- ") }
            .map { PrintedRecipe(String($0)) }
    }
}
