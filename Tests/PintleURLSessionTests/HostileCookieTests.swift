import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Responses whose cookies keep Foundation's storage busy: it writes its whole content to the disk for each cookie.
    @Suite("Floods of cookies", .serialized)
    struct CookieFloods {
        private let fixture: SessionFixture

        init() throws { fixture = try SessionFixture() }

        /// A storage on the disk, as the default one. Its file is deleted in the end.
        private final class DiskStorage {
            let configuration = URLSessionConfiguration.default
            let storage: HTTPCookieStorage
            private let name = UUID().uuidString

            init() {
                storage = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: name)
                configuration.httpCookieStorage = storage
                configuration.timeoutIntervalForRequest = 20
            }

            deinit {
                let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
                for folder in folders {
                    let paths = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil, options: [])
                    while let file = paths?.nextObject() as? URL {
                        if file.lastPathComponent == ".cookies.\(name)" {
                            try? FileManager.default.removeItem(at: file)
                        }
                    }
                }
            }
        }

        /// The hosts that set very many cookies.
        enum Attackers: String, CaseIterable {
            case oneHost, manyHosts
        }

        /// The server that sets one cookie.
        enum Victim: String, CaseIterable {
            case pinned, plain
        }

        @Test(
            "Cookies of other servers do not delay a response that sets a cookie",
            .enabled(if: dlsym(nil, "__asan_init") == nil, "no sanitizer is at work"), arguments: Attackers.allCases,
            Victim.allCases)
        func fairShare(attackers: Attackers, victim: Victim) async throws {
            let count = Atomic(0)
            let hostile = try (0..<7).map { _ in
                try LoopbackTCPServer.http { _ in
                    let number = count.add(1, ordering: .relaxed).newValue
                    let fields = (0..<50).map {
                        HTTPField("Set-Cookie", "c\(number)-\($0)=v; Path=/; Max-Age=1000000")
                    }
                    return HTTPResponse(status: 200, reason: "OK", fields: fields)
                }
            }
            let cookie = [HTTPField("Set-Cookie", "honest=1; Path=/; Max-Age=1000000")]
            let ended = Atomic(0)
            let endedBefore = Atomic(0)
            let answer: @Sendable (HTTPRequest) -> HTTPResponse = { _ in
                endedBefore.store(ended.load(ordering: .relaxed), ordering: .relaxed)
                return HTTPResponse(status: 200, reason: "OK", fields: cookie)
            }
            let honest = try fixture.server(handler: answer)
            let plain = try LoopbackTCPServer.http { answer($0) }
            var lines: [String] = []
            let addresses = (0..<40).map { number in
                let host = attackers == .oneHost ? "hostile.example" : "h\(number).example"
                let port = hostile[number % hostile.count].port
                lines.append("\(host):\(port):127.0.0.1")
                return "http://\(host):\(port)/"
            }
            lines.append("honest.example:\(plain.port):127.0.0.1")
            let disk = DiskStorage()
            let session = PinnedURLSession(
                source: LivePolicy(try fixture.policy()), configuration: disk.configuration, delegate: nil,
                delegateQueue: nil, options: CurlTransport.Options(addresses: StringList(lines)))
            let tasks = try addresses.map { address in
                session.dataTask(with: try #require(URL(string: address))) { _, _, _ in
                    _ = ended.add(1, ordering: .relaxed)
                }
            }
            for task in tasks { task.resume() }
            for _ in 0..<1_000 where count.load(ordering: .relaxed) < 40 {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(count.load(ordering: .relaxed) == 40)
            let start = ProcessInfo.processInfo.systemUptime
            let url =
                victim == .pinned
                ? try honest.address() : try #require(URL(string: "http://honest.example:\(plain.port)/"))
            let result = await Task { try await session.data(from: url) }.result
            let seconds = ProcessInfo.processInfo.systemUptime - start
            let (before, others) = (endedBefore.load(ordering: .relaxed), ended.load(ordering: .relaxed))
            print("\(attackers) \(victim): \(seconds) s, \(before) then \(others) of 40 others ended")
            #expect((try? result.get().1 as? HTTPURLResponse)?.statusCode == 200)
            #expect(disk.storage.cookies?.contains { $0.name == "honest" } == true)
            // Without shares, all 40 would come first.
            #expect(others < 40 || before > 30)
            session.invalidateAndCancel()
            for _ in 0..<6_000 where tasks.contains(where: { $0.state != .completed }) {
                try await Task.sleep(for: .milliseconds(10))
            }
        }

        @Test("The storage stays within its limits while many hosts take turns")
        func limits() throws {
            let configuration = URLSessionConfiguration.ephemeral
            let storage = try #require(configuration.httpCookieStorage)
            let value = String(repeating: "v", count: 4_900)
            var jars = try (0..<20).map { host in
                let address = "http://h\(host).example/"
                var head = ResponseHead(status: 200, version: "HTTP/1.1")
                head.fields = (0..<50).map { ("Set-Cookie", "c\($0)=\(value); Path=/") }
                let request = URLRequest(url: try #require(URL(string: address)))
                return try #require(
                    CookieJar(for: head, from: try CurlURL(address), to: request, under: configuration))
            }
            var (most, turns) = (0, 0)
            var isOver = Array(repeating: false, count: jars.count)
            while isOver.contains(false), turns < 10_000 {
                for index in jars.indices where !isOver[index] {
                    // With a deadline in the past, a turn stores one cookie.
                    isOver[index] = jars[index].store(until: 0)
                    turns += 1
                    most = max(most, storage.cookies?.count ?? 0)
                }
            }
            #expect(turns == 20 * 50)
            // All of them would be five times the limit of 1 MB. One cookie may be too many until the next turn.
            #expect(storage.cookies?.count == most - 1 && 195...205 ~= most, "\(most)")
        }

        /// Keeps a storage busy, as a slow disk does, until `isOver` or for 15 seconds.
        private func hold(_ storage: HTTPCookieStorage, until isOver: DispatchSemaphore) async throws {
            for name in ["x", "y"] {
                let properties: [HTTPCookiePropertyKey: Any] = [
                    .name: name, .value: "1", .domain: "other.example", .path: "/",
                ]
                storage.setCookie(try #require(HTTPCookie(properties: properties)))
            }
            await withCheckedContinuation { isHeld in
                Thread {
                    let count = Atomic(0)
                    // The storage sorts under its lock.
                    let order = NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: true) { _, _ in
                        if count.add(1, ordering: .relaxed).newValue == 1 {
                            isHeld.resume()
                            _ = isOver.wait(timeout: .now() + 15)
                        }
                        return .orderedSame
                    }
                    _ = storage.sortedCookies(using: [order])
                }.start()
            }
        }

        @Test("A redirect that waits for the storage of cookies does not delay other responses")
        func redirects() async throws {
            let (isMoved, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = try fixture.server { request in
                guard request.target == "/moved" else { return .ok }
                _ = isMoved.wait(timeout: .now() + 15)
                return .redirect(to: "/end")
            }
            let configuration = URLSessionConfiguration.ephemeral
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            let moved = try server.address("moved")
            async let redirected = session.data(from: moved)
            #expect(await server.hasRequest())
            try await hold(try #require(session.resources.settings.httpCookieStorage), until: isOver)
            isMoved.signal()
            let start = ProcessInfo.processInfo.systemUptime
            var other = URLRequest(url: try server.address("other"))
            other.httpShouldHandleCookies = false
            for _ in 0..<20 {
                _ = try await session.data(for: other)
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(ProcessInfo.processInfo.systemUptime - start < 10)
            #expect(!server.requests.contains { $0.target == "/end" })
            isOver.signal()
            #expect((try await redirected.1 as? HTTPURLResponse)?.statusCode == 200)
            #expect(server.requests.contains { $0.target == "/end" })
        }

        @Test(
            "The time-out applies while a complete or incomplete response waits for its cookies",
            arguments: [true, false], [true, false])
        func timeOut(isComplete: Bool, isStored: Bool) async throws {
            let (mayAnswer, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = try fixture.server(stream: { stream in
                _ = try? stream.read(upTo: 4_096)
                _ = mayAnswer.wait(timeout: .now() + 15)
                try? stream.write(Array("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\nx".utf8))
                if !isComplete { usleep(3_000_000) }
                try? stream.write([0x78])
            })
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            let request = URLRequest(url: try server.address(), timeoutInterval: isStored ? 20 : 2)
            let answer = Task { try await session.data(for: request) }
            for _ in 0..<500 where server.requestByteCount == 0 { try await Task.sleep(for: .milliseconds(10)) }
            let storage = try #require(session.resources.settings.httpCookieStorage)
            try await hold(storage, until: isOver)
            mayAnswer.signal()
            let start = ProcessInfo.processInfo.systemUptime
            if isStored {
                try await Task.sleep(for: .milliseconds(500))
                isOver.signal()
                #expect(try await answer.value.0 == Data("xx".utf8))
                #expect(storage.cookies?.contains { $0.name == "a" } == true)
            } else {
                let error = await #expect(throws: URLError.self) { try await answer.value }
                #expect(error?.code == .timedOut)
                #expect(error?.isAboutTrust == false)
                #expect(ProcessInfo.processInfo.systemUptime - start < 10)
                isOver.signal()
            }
        }
    }
}
