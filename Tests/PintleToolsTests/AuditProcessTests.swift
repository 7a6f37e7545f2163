import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

/// A verdict that never returns, in a separate process. No call of OpenSSL hangs that long any more, so a preloaded
/// library replaces the call.
@Suite(
    "The tool ends an audit while a verdict runs",
    .enabled(
        if: SpawnedTool.path != nil && access("/usr/bin/cc", X_OK) == 0,
        "skipped: $PINTLE_TOOL names no program, or there is no compiler for C"))
struct AuditProcessTests {
    private let scene: AuditFixture
    private let server: LoopbackTLSServer

    init() throws {
        scene = try AuditFixture()
        server = try LoopbackTLSServer(scene.identity)
    }

    /// Counts validations, and blocks forever from number `$STALL_FROM` on. A destructor reports a normal exit of the
    /// process.
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <unistd.h>

        int X509_verify_cert(void *context) {
            static int count;
            const char *first = getenv("STALL_FROM");
            if (first && __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) >= atoi(first)) for (;;) pause();
            return ((int (*)(void *))dlsym(RTLD_NEXT, "X509_verify_cert"))(context);
        }

        __attribute__((destructor)) static void end(void) {
            if (write(2, "normal exit\\n", 12) < 0) abort();
        }
        """

    private func library() throws -> String {
        let (source, library) = (
            try scene.directory.write(Self.source, to: "stall.c"), scene.directory.path(of: "stall.so")
        )
        let compiler = try runProcess(["/usr/bin/cc", "-shared", "-fPIC", "-o", library, source, "-ldl"])
        #expect(compiler.status == 0, "\(compiler.errorOutput)")
        return library
    }

    private func names(_ path: String) throws -> [String] {
        try String(decoding: scene.directory.read("results.ndjson"), as: UTF8.self).split(separator: "\n").map { line in
            let record = try JSONDocument(Array(line.utf8)).root
            #expect(AuditFixture.verdict(record) == "trusted pin-matched")
            return record["host"]?.string ?? ""
        }
    }

    @Test("The time limit ends the tool with exit code 2, the results stay, and a resumed audit asks the other servers")
    func stalled() throws {
        let library = try library()
        let policy = try scene.policy()
        let list = try scene.list(["a", "b", "c", "d"].map { ("\($0).audit.test", server.port) })
        let results = scene.directory.path(of: "results.ndjson")
        let arguments = [
            "audit", policy, "--hosts", list, "--anchors", scene.anchors, "--parallel", "1", "-o", results,
        ]
        let stalled = try SpawnedTool.run(
            arguments + ["--time-limit", "5"], environment: ["LD_PRELOAD": library, "STALL_FROM": "3"])
        #expect(!stalled.timedOut)
        #expect(stalled.status == 2, "\(stalled.errorOutput)")
        #expect(stalled.errorOutput.contains("not asked: 2 servers; the time is up"), "\(stalled.errorOutput)")
        // A normal exit would free memory that the blocked thread in OpenSSL still uses, and could crash.
        #expect(!stalled.errorOutput.contains("normal exit"))
        #expect(try names(results) == ["a.audit.test", "b.audit.test"])

        let resumed = try SpawnedTool.run(arguments + ["--resume"], environment: ["LD_PRELOAD": library])
        #expect(resumed.status == 0, "\(resumed.errorOutput)")
        #expect(resumed.errorOutput.contains("normal exit"))
        #expect(try names(results) == ["a.audit.test", "b.audit.test", "c.audit.test", "d.audit.test"])
        #expect(server.completedHandshakeCount == 4)
    }
}
