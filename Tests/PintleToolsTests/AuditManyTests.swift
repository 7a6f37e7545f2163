import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole

/// The built tool and thousands of servers.
@Suite(
    "Audits of many servers",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct AuditManyTests {
    private let scene: AuditFixture

    init() throws {
        scene = try AuditFixture()
    }

    private static let environment = ["SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere", "LC_ALL": "C"]

    private func command(_ more: [String]) throws -> [String] {
        [try #require(SpawnedTool.path), "audit", try scene.policy(), "--anchors", scene.anchors] + more
    }

    /// Counts the results in a file with `memchr`. The test calls this often, beside servers that need the processor.
    private func count(_ name: String) -> Int {
        ((try? scene.directory.read(name)) ?? []).withUnsafeBytes { bytes in
            var (count, rest) = (0, bytes[...])
            while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                let end = memchr(start, 0x0A, rest.count)
            {
                count += 1
                rest = rest.dropFirst(UnsafeRawPointer(end) - start + 1)
            }
            return count
        }
    }

    /// Waits for a condition, at most two minutes.
    private func wait(until condition: () -> Bool) -> Bool {
        for _ in 0..<6_000 {
            if condition() { return true }
            usleep(20_000)
        }
        return false
    }

    @Test("An audit of 2,000 servers, some silent, broken or with another key, needs no more memory than one of 200")
    func memory() throws {
        let good = try LoopbackTLSServer(scene.identity) { $0.maximumConnections = 128 }
        let stranger = try LoopbackTLSServer(scene.stranger())
        let plain = try LoopbackTCPServer { try? $0.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) }
        let hangsUp = try LoopbackTCPServer { $0.resetOnClose() }
        let silent = try LoopbackTCPServer(maximumConnections: 128) { $0.stall(seconds: 1) }
        let gone = try LoopbackTCPServer { _ in }
        gone.close()
        /// Returns the port of a server. Of each hundred, two are silent for a second, two speak HTTP, two hang up, two
        /// are gone and two have another key.
        func port(_ index: Int) -> UInt16 {
            switch index % 100 {
            case 10, 60: silent.port
            case 20, 70: plain.port
            case 30, 80: hangsUp.port
            case 40, 90: gone.port
            case 50, 99: stranger.port
            default: good.port
            }
        }
        func peak(_ servers: Int) throws -> Int {
            let list = try scene.list((0..<servers).map { ("h\($0).audit.test", port($0)) }, name: "\(servers).txt")
            // The page goes into a pipe without a reader yet, so the tool blocks there after it has asked all servers.
            // Its peak memory can then be read.
            let page = scene.directory.path(of: "\(servers).html")
            #expect(mkfifo(page, 0o600) == 0)
            let child = try ChildProcess(
                command([
                    "--hosts", list, "-o", scene.directory.path(of: "\(servers).ndjson"), "--html", page,
                    "--handshake-timeout", "60",
                ]), environment: Self.environment, outputFile: scene.directory.path(of: "\(servers).log"))
            #expect(wait { count("\(servers).ndjson") == servers || child.status != nil })
            let status = try InputFile("/proc/\(child.processIdentifier)/status", standardInput: ByteSource([])).bytes
            let peak = String(decoding: status, as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: \.isWhitespace).dropFirst().first
            let reader = try InputFile(page, standardInput: ByteSource([]))
            #expect(reader.bytes.count > servers * 100)
            #expect(wait { child.status != nil })
            #expect(child.status == 1)
            let log = try scene.read("\(servers).log")
            #expect(
                log.contains(
                    "\(servers) servers: \(servers / 100 * 90) trusted, \(servers / 50) rejected, \(servers * 8 / 100) not reached"
                ),
                "\(log.suffix(400))")
            return try #require(peak.flatMap { Int($0) })
        }
        let few = try peak(200)
        let many = try peak(2_000)
        #expect(many - few < 8_192, "\(few) KiB for 200, \(many) KiB for 2,000")
        #expect(
            Set(try scene.read("2000.ndjson").split(separator: "\n").map { $0.prefix { $0 != "," } }).count == 2_000)
    }

    @Test("A signal ends an audit in order, and the next audit asks no server twice", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: CInt) throws {
        let good = try LoopbackTLSServer(scene.identity)
        let silent = try LoopbackTCPServer(maximumConnections: 64) { $0.stall(seconds: 60) }
        let port = good.port
        let list = try scene.list(
            (0..<20).map { ("g\($0).audit.test", port) } + (0..<20).map { ("s\($0).audit.test", silent.port) })
        let results = scene.directory.path(of: "results.ndjson")
        let options = ["--hosts", list, "-o", results]
        let child = try ChildProcess(
            command(options + ["--handshake-timeout", "3600"]), environment: Self.environment,
            outputFile: scene.directory.path(of: "log"))
        #expect(wait { count("results.ndjson") == 20 || child.status != nil })
        kill(child.processIdentifier, signal)
        #expect(wait { child.status != nil })
        #expect(child.status == 2)
        let log = try scene.read("log")
        #expect(log.contains("20 servers: 20 trusted"))
        #expect(log.contains("not asked: 20 servers; interrupted"))
        let rest = try runProcess(
            command(options + ["--resume", "--handshake-timeout", "0.3"]), environment: Self.environment)
        #expect(rest.status == 3, "\(rest.errorOutput)")
        #expect(rest.output.contains("40 servers: 20 trusted, 0 rejected, 20 not reached"))
        #expect(try AuditFixture.records(scene.read("results.ndjson")).count == 40)
        #expect(good.connectionCount == 20)
    }

    @Test("A signal ends an audit even if the reader of its output does not read", arguments: [SIGINT, SIGTERM])
    func stalled(signal: CInt) throws {
        let gone = try LoopbackTCPServer { _ in }
        gone.close()
        let list = try scene.list((0..<2_000).map { ("g\($0).audit.test", gone.port) })
        let pipe = scene.directory.path(of: "pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        #expect(reader >= 0)
        defer { close(reader) }
        let child = try ChildProcess(
            ["sh", "-c", "exec \"$@\" > \(pipe)", "sh"]
                + command(["--hosts", list, "-o", scene.directory.path(of: "results.ndjson"), "--parallel", "1", "-v"]),
            environment: Self.environment, outputFile: scene.directory.path(of: "log"))
        // A pipe holds 64 KiB, which is less than the names of all servers.
        var last = (count: -1, turns: 0)
        #expect(
            wait {
                let count = count("results.ndjson")
                last = count == last.count && count > 0 ? (count, last.turns + 1) : (count, 0)
                return last.turns > 60 || child.status != nil
            })
        #expect(child.status == nil, "it waits for its reader")
        // The first signal interrupts a write that is already waiting. The second ends the tool in any state.
        kill(child.processIdentifier, signal)
        for _ in 0..<1_000 where child.status == nil { usleep(5_000) }
        if child.status == nil { kill(child.processIdentifier, signal) }
        #expect(wait { child.status != nil })
        #expect([2, 128 + signal].contains(child.status))
        #expect(try scene.read("results.ndjson").hasSuffix("}\n"))
    }
}
