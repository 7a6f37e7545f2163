import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Synchronization
import Testing

@testable import PintleConsole
@testable import PintleTools

@Suite("Output of audits")
struct AuditOutputTests {
    private let scene: AuditFixture

    init() throws {
        scene = try AuditFixture()
    }

    /// Audits 600 servers that hang up, which is more than the results that wait for a reader, and returns the exit
    /// code, the errors and the number of servers that were asked.
    ///
    /// - Parameter write: standard output. Its parameter counts the servers that were asked so far.
    private func audit(
        _ write: @escaping (_ asked: () -> Int) -> Bool
    ) throws -> (code: Int32, errors: String, asked: Int) {
        let asked = Mutex(0)
        let errors = Mutex("")
        let server = try LoopbackTCPServer { _ in asked.withLock { $0 += 1 } }
        let list = try scene.list((0..<600).map { ("h\($0).audit.test", server.port) })
        let tool = CommandLineTool(
            environment: ["SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"], input: ByteSource([]),
            output: ByteSink { _ in write { asked.withLock { $0 } } },
            errors: ByteSink { bytes in
                errors.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                return true
            }, now: Date())
        let code = tool.run(["audit", "--hosts", list, "--json", "--parallel", "1", "--anchors", scene.anchors])
        return (code, errors.withLock { $0 }, asked.withLock { $0 })
    }

    @Test("An audit stops asking servers when the reader of its lines has ended, and asks all for one that reads")
    func closed() throws {
        let closed = try audit { _ in false }
        #expect(closed.code == 2 && closed.asked < 600)
        #expect(closed.errors.contains("not asked: "), "\(closed.errors)")
        let read = try audit { _ in true }
        #expect(read.code == 3 && read.asked == 600)
    }

    @Test("An audit stops asking servers while the reader of its lines does not read, and goes on afterwards")
    func stalled() throws {
        let askedInStall = Mutex<Int?>(nil)
        let run = try audit { asked in
            guard askedInStall.withLock({ $0 == nil }) else { return true }
            // Wait until no server was asked for half a second.
            var (last, rounds) = (-1, 0)
            while rounds < 10 {
                let count = asked()
                rounds = count == last ? rounds + 1 : 0
                last = count
                usleep(50_000)
            }
            askedInStall.withLock { $0 = last }
            return true
        }
        let most = askedInStall.withLock { $0 }
        #expect(try #require(most) < 600)
        #expect(run.code == 3 && run.asked == 600, "\(run.errors)")
    }

    @Test("With -v each server of a row has a line, also in a pipe; without it, ten are named on lines of 80 columns")
    func servers() throws {
        let lines = (1...12).map {
            """
            {"host": "s\($0).example.com", "port": 443, "at": "2027-01-15T08:00:00Z", \
            "error": {"code": "closed", "message": "it hung up"}}

            """
        }
        let results = try scene.directory.write(lines.joined(), to: "results.ndjson")
        let all = ToolRun("report", results, "-v").lines
        #expect(all.first == "NOT REACHED  closed                      12 servers  it hung up")
        #expect(all.dropFirst().prefix(12).map { $0 } == (1...12).map { "    s\($0).example.com:443" })
        let some = ToolRun("report", results).lines
        #expect(some.first == all.first)
        #expect(some.dropFirst().prefix { $0.hasPrefix("    s") }.joined().components(separatedBy: ":443") == 10)
        #expect(some.contains { $0.hasSuffix(", + 2 more") } && some.allSatisfy { $0.count <= 80 })
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count - 1
    }
}
