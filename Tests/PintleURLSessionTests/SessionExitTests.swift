import Foundation
import FoundationNetworking
import Glibc
import PintleAttacks
import PintleTestKit
import Synchronization
import Testing

@testable import PintleEvents
@testable import PintleURLSession

/// Six loops that load the same URL again and again at the same time.
private final class RepeatedLoads: Sendable {
    private let session: PinnedURLSession
    private let address: URL
    private let count = Mutex(0)

    init(_ session: PinnedURLSession, _ address: URL) {
        self.session = session
        self.address = address
    }

    /// - Parameter end: A closure that is called while the other loops are busy.
    func run(until limit: Int, end: @escaping @Sendable () -> Never) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    while true {
                        guard (try? await self.session.data(from: self.address)) != nil else { continue }
                        let count = self.count.withLock { count in
                            count += 1
                            return count
                        }
                        if count == limit { end() }
                    }
                }
            }
        }
    }
}

/// Returns a session that trusts a root of the tests for `localhost`.
private func pinnedSession(
    _ root: [UInt8], observer: (any TrustEventObserver)? = nil
) throws -> PinnedURLSession {
    let policy = try PinningPolicy(
        hosts: [try PinnedHost("localhost", pins: [Pin](), anchors: .only([try Certificate(der: root)]))])
    return URLSession.pinned(to: policy, observer: observer)
}

/// Behavior that only shows at the start or the end of a process.
// Excluded with a sanitizer, which ends a process in its own way and with its own status.
@Suite("Pinned sessions: processes", .enabled(if: dlsym(nil, "__asan_init") == nil, "no sanitizer is at work"))
struct SessionExitTests {
    @Test("A process that exits during handshakes and transfers ends with its own status", arguments: 1...4)
    func exitAmidTransfers(round: Int) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in
            var response = HTTPResponse.text(String(repeating: "x", count: 100_000))
            response.closesConnection = true
            return response
        }
        let (url, root) = (try server.address().absoluteString, fixture.root.certificate.der)
        await #expect(processExitsWith: .exitCode(7)) { [url = url as String, root = root as [UInt8]] in
            await RepeatedLoads(try pinnedSession(root), try #require(URL(string: url))).run(until: 20) {
                Glibc.exit(7)
            }
        }
    }

    @Test(
        "SSLKEYLOGFILE gets keys from Foundation's session, but none from a pinned session", arguments: [true, false])
    func keyLog(isPinned: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let files = try TemporaryDirectory()
        let file = files.path(of: "keys")
        let (url, root) = (try server.address().absoluteString, fixture.root.certificate.der)
        await #expect(processExitsWith: .success) {
            [url = url as String, root = root as [UInt8], file = file as String, isPinned] in
            setenv("SSLKEYLOGFILE", file, 1)
            let address = try #require(URL(string: url))
            if isPinned {
                #expect(try await pinnedSession(root).data(from: address).0.count == 3)
            } else {
                await #expect(throws: (any Error).self) {
                    try await URLSession(configuration: .ephemeral).data(from: address)
                }
            }
        }
        let keys = (try? files.read("keys")) ?? []
        guard !isPinned else { return #expect(keys.isEmpty) }
        // The control. A libcurl 8 may be built without support for the variable.
        withKnownIssue(isIntermittent: true) {
            #expect(!keys.isEmpty)
        } when: {
            CurlLibrary.version.hasPrefix("8.")
        }
    }

    @Test(
        "An https:// proxy in http_proxy is refused without a connection; an http:// proxy is used",
        arguments: [true, false])
    func proxyOfEnvironment(isSecure: Bool) async throws {
        let targets = Mutex<[String]>([])
        let server = try LoopbackTCPServer.http { request in
            targets.withLock { $0.append(request.target) }
            return .ok
        }
        let proxy = "\(isSecure ? "https" : "http")://127.0.0.1:\(server.port)"
        let root = try SessionFixture().root.certificate.der
        await #expect(processExitsWith: .success) { [proxy = proxy as String, root = root as [UInt8], isSecure] in
            for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
            setenv("http_proxy", proxy, 1)
            let session = try pinnedSession(root)
            let address = try #require(URL(string: "http://www.example/"))
            if isSecure {
                let error = await #expect(throws: URLError.self) { try await session.data(from: address) }
                #expect(error?.refusal == .unsupportedProxy)
            } else {
                #expect(try await session.data(from: address).0.count == 3)
            }
        }
        #expect(server.connectionCount == (isSecure ? 0 : 1))
        #expect(targets.withLock { $0 } == (isSecure ? [] : ["http://www.example/"]))
    }

    @Test(
        "An entry of NO_PROXY that cannot be read is skipped and named to the observer",
        arguments: ["10.*,localhost", "localhost", "10.*", "other.example"])
    func unreadableException(list: String) async throws {
        let (fixture, proxy) = (try SessionFixture(), try LoopbackProxy(.httpConnect))
        let server = try fixture.server()
        let other = "http://127.0.0.1:\(proxy.port)/path"
        let (url, root) = (try server.address().absoluteString, fixture.root.certificate.der)
        await #expect(processExitsWith: .success) {
            [other = other as String, url = url as String, root = root as [UInt8], list = list as String] in
            for name in ["https_proxy", "http_proxy", "all_proxy", "ALL_PROXY", "no_proxy"] { unsetenv(name) }
            setenv("HTTPS_PROXY", other, 1)
            setenv("NO_PROXY", list, 1)
            let recorder = TrustEventRecorder()
            let session = try pinnedSession(root, observer: recorder)
            #expect(try await session.data(from: try #require(URL(string: url))).0.count == 3)
            await TrustEventFeed.shared.waitForEvents()
            let events = recorder.events.compactMap { event -> SessionEvent? in
                if case .session(let event) = event { event } else { nil }
            }
            #expect(events.map(\.code) == (list.contains("*") ? ["unreadable-no-proxy"] : []))
            #expect(events.allSatisfy { $0.text.contains("\"10.*\"") && !$0.text.contains("localhost") })
        }
        #expect(proxy.connections.count == (list.contains("localhost") ? 0 : 1))
        #expect(server.requests.count == 1)
    }

    @Test("A session uses the proxies that the environment has when the session is made", arguments: [true, false])
    func laterEnvironment(isSetBefore: Bool) async throws {
        let targets = Mutex<[String]>([])
        let server = try LoopbackTCPServer.http { request in
            targets.withLock { $0.append(request.target) }
            return .ok
        }
        let (fixture, proxy) = (try SessionFixture(), try LoopbackProxy(.httpConnect))
        let secure = try fixture.server()
        let (plain, other) = ("http://127.0.0.1:\(server.port)/", "http://127.0.0.1:\(proxy.port)")
        let (url, root) = (try secure.address().absoluteString, fixture.root.certificate.der)
        await #expect(processExitsWith: .success) {
            [plain = plain as String, other = other as String, url = url as String, root = root as [UInt8], isSetBefore]
            in
            for name in ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
                unsetenv(name)
            }
            func set() {
                setenv("http_proxy", plain, 1)
                setenv("https_proxy", other, 1)
            }
            if isSetBefore { set() }
            let session = try pinnedSession(root)
            if !isSetBefore { set() }
            #expect(try await session.data(from: try #require(URL(string: plain))).0.count == 3)
            #expect(try await session.data(from: try #require(URL(string: url))).0.count == 3)
        }
        #expect(targets.withLock { $0 } == [isSetBefore ? plain : "/"])
        #expect(proxy.connections.count == (isSetBefore ? 1 : 0))
    }

    @Test(
        "A cookie with Max-Age is still there when the program starts again, and still Secure",
        arguments: [true, false])
    func lastingCookie(isSecure: Bool) async throws {
        let root = try CertificateAuthority.root()
        let cookies = Mutex<[String?]>([])
        let answer: @Sendable (HTTPRequest) -> HTTPResponse = { request in
            cookies.withLock { $0.append(request["cookie"]) }
            let attributes = "Domain=hosts.example; Max-Age=600\(isSecure ? "; Secure" : "")"
            let fields = ["lasting=1; \(attributes)", "session=1"].map { HTTPField("Set-Cookie", $0) }
            return HTTPResponse(status: 200, reason: "OK", fields: request.target == "/login" ? fields : [])
        }
        let secure = try LoopbackTLSServer(try root.issue(hosts: ["www.hosts.example"]), handler: answer)
        let plain = try LoopbackTCPServer.http { request in
            cookies.withLock { $0.append(request["cookie"]) }
            return .ok
        }
        let lines = [
            "www.hosts.example:\(secure.port):127.0.0.1", "blog.hosts.example:\(plain.port):127.0.0.1",
        ]
        let first = ["https://www.hosts.example:\(secure.port)/login"]
        let second = ["https://www.hosts.example:\(secure.port)/", "http://blog.hosts.example:\(plain.port)/"]
        let files = try TemporaryDirectory()
        for addresses in [first, second] {
            await #expect(processExitsWith: .success) {
                [
                    addresses = addresses as [String], lines = lines as [String], folder = files.path as String,
                    root = root.certificate.der as [UInt8]
                ] in
                setenv("XDG_DATA_HOME", folder, 1)
                let anchors = TrustAnchors.only([try Certificate(der: root)])
                let rule = try PinnedHost("www.hosts.example", pins: [Pin](), anchors: anchors)
                let configuration = URLSessionConfiguration.ephemeral
                configuration.httpCookieStorage = .sharedCookieStorage(forGroupContainerIdentifier: "pintle-test")
                var options = CurlTransport.Options()
                options.addresses = StringList(lines)
                let session = PinnedURLSession(
                    source: LivePolicy(try PinningPolicy(hosts: [rule])), configuration: configuration, delegate: nil,
                    delegateQueue: nil, options: options)
                for address in addresses { _ = try await session.data(from: try #require(URL(string: address))) }
            }
        }
        #expect(cookies.withLock { $0 } == [nil, "lasting=1", isSecure ? nil : "lasting=1"])
    }

    @Test("A download for which no file can be created fails with the folder in the error", arguments: [true, false])
    func temporaryFolder(isThere: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let files = try TemporaryDirectory()
        let folder = isThere ? files.path : files.path(of: "none")
        let (url, root) = (try server.address().absoluteString, fixture.root.certificate.der)
        await #expect(processExitsWith: .success) {
            [url = url as String, root = root as [UInt8], folder = folder as String, isThere] in
            setenv("TMPDIR", folder, 1)
            let address = try #require(URL(string: url))
            let session = try pinnedSession(root)
            if isThere {
                #expect(try await session.download(from: address).0.path.hasPrefix(folder))
            } else {
                let error = await #expect(throws: URLError.self) { try await session.download(from: address) }
                #expect(error?.code == .cannotCreateFile)
                #expect(error?.isAboutTrust == false)
                #expect(error?.localizedDescription.contains("\(folder): No such file") == true)
            }
        }
    }

    @Test("A download fails if it is too large for the disk", arguments: [100, 100_000])
    func fullDisk(size: Int) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in .text(String(repeating: "x", count: size)) }
        let (url, root) = (try server.address().absoluteString, fixture.root.certificate.der)
        await #expect(processExitsWith: .success) { [url = url as String, root = root as [UInt8], size] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 10_000, rlim_max: 10_000)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let address = try #require(URL(string: url))
            let session = try pinnedSession(root)
            if size < 10_000 {
                let file = try await session.download(from: address).0
                #expect(try Data(contentsOf: file).count == size)
                try FileManager.default.removeItem(at: file)
            } else {
                let error = await #expect(throws: URLError.self) { try await session.download(from: address) }
                #expect(error?.code == .cannotWriteToFile)
                #expect(error?.isAboutTrust == false)
            }
        }
    }
}
