import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Servers that set very many cookies.
@Suite("Pinned sessions: cookies")
struct SessionCookieTests {
    private func response(_ fields: [String], status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, reason: "OK",
            fields: fields.map { field in
                let parts = field.split(separator: ":", maxSplits: 1).map { String($0) }
                return HTTPField(parts[0], parts[1])
            })
    }

    /// Foundation's default storage writes its whole content to the disk for each cookie: a thousand cookies take two
    /// minutes.
    @Test(
        "Cookies are stored off the transport's thread, so a response without cookies does not wait",
        arguments: ["", "cookie"])
    func storing(path: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { [self] request in
            response(request.target == "/cookie" ? ["Set-Cookie:a=b"] : ["X-Field:a=b"])
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        session.resources.cookieQueue.thread.suspend()
        let isOver = Atomic(false)
        async let answer = {
            defer { isOver.store(true, ordering: .relaxed) }
            return try await session.data(from: try server.address(path))
        }()
        #expect(await server.hasRequest())
        // These requests complete even while the other response waits for its cookies.
        for _ in 0..<3 { _ = try await session.data(from: try server.address("other")) }
        if path == "cookie" {
            #expect(
                !isOver.load(ordering: .relaxed)
                    && session.resources.settings.httpCookieStorage?.cookies?.isEmpty == true)
        } else {
            _ = try await answer
        }
        session.resources.cookieQueue.thread.resume()
        #expect((try await answer.1 as? HTTPURLResponse)?.statusCode == 200)
        #expect(session.resources.settings.httpCookieStorage?.cookies?.count == (path == "cookie" ? 1 : 0))
    }

    @Test(
        "A request after a redirect or a challenge already sends the cookie that the response set",
        arguments: [302, 401, 303])
    func following(status: Int) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { [self] request in
            guard request["cookie"] == nil else { return .ok }
            return response(
                ["Set-Cookie:a=b; Path=/", "Location:/next", "WWW-Authenticate:Basic realm=\"r\""], status: status)
        }
        let configuration = URLSessionConfiguration.ephemeral
        let space = URLProtectionSpace(
            host: "localhost", port: Int(server.port), protocol: "https", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        configuration.urlCredentialStorage?.setDefaultCredential(
            URLCredential(user: "u", password: "p", persistence: .forSession), for: space)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let recorder = Recorder(redirects: { status == 303 ? nil : $0 })
        let (_, answer) = try await session.data(
            for: URLRequest(url: try server.address()), delegate: recorder)
        #expect((answer as? HTTPURLResponse)?.statusCode == (status == 303 ? 303 : 200))
        #expect(server.requests.map { $0["cookie"] } == (status == 303 ? [nil] : [nil, "a=b"]))
    }

    @Test("A redirect that sets a cookie is followed without a delegate", arguments: [true, false])
    func followingWithoutDelegate(setsCookie: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { [self] request in
            guard request.target == "/" else { return .ok }
            return response(["Location:/next"] + (setsCookie ? ["Set-Cookie:a=b; Path=/"] : []), status: 302)
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
        // The transfer is held before the cookie is stored. When the transport runs the other request, it has already
        // processed the redirect's head.
        let cookieQueue = session.resources.cookieQueue
        if setsCookie { cookieQueue.thread.suspend() }
        async let load = session.data(from: try server.address())
        if setsCookie {
            for _ in 0..<3_000 where cookieQueue.turnCount == 0 { try await Task.sleep(for: .milliseconds(10)) }
            _ = try await session.data(from: try server.address("other"))
            cookieQueue.thread.resume()
        }
        // If the transfer stayed held, it would end only at the time limit, and the task would then continue.
        for _ in 0..<1_500 where !server.requests.contains(where: { $0.target == "/next" }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        if !server.requests.contains(where: { $0.target == "/next" }) { session.invalidateAndCancel() }
        let (content, answer) = try await load
        #expect((answer as? HTTPURLResponse)?.statusCode == 200 && content.count == 3)
        #expect(server.requests.map(\.target) == (setsCookie ? ["/", "/other", "/next"] : ["/", "/next"]))
        #expect(server.requests.map { $0["cookie"] } == (setsCookie ? [nil, nil, "a=b"] : [nil, nil]))
    }

    @Test("A task that is cancelled while its cookies wait ends as cancelled, without further callbacks")
    func cancelling() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { [self] _ in response(["Set-Cookie:a=b", "Location:/next"], status: 302) }
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        session.resources.cookieQueue.thread.suspend()
        let task = session.dataTask(with: try server.address())
        async let end: Void = recorder.run(task)
        #expect(await server.hasRequest())
        task.cancel()
        await end
        session.resources.cookieQueue.thread.resume()
        await withCheckedContinuation { done in session.resources.cookieQueue.thread.async { done.resume() } }
        #expect(recorder.events == ["complete"] && server.requests.count == 1)
        #expect((recorder.log.withLock { $0.error } as? URLError)?.code == .cancelled)
    }

    @Test(
        "The cookies of a response are dropped if its task was cancelled, and stored otherwise",
        arguments: [true, false])
    func over(isCancelled: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { [self] _ in response(["Set-Cookie:a=b"]) }
        let recorder = Recorder()
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        session.resources.cookieQueue.thread.suspend()
        let task = session.dataTask(with: try server.address())
        async let end: Void = recorder.run(task)
        for _ in 0..<1_000 where session.resources.cookieQueue.turnCount == 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(session.resources.cookieQueue.turnCount == 1)
        if isCancelled {
            task.cancel()
            await end
        }
        session.resources.cookieQueue.thread.resume()
        await withCheckedContinuation { done in session.resources.cookieQueue.thread.async { done.resume() } }
        await end
        #expect(session.resources.settings.httpCookieStorage?.cookies?.count == (isCancelled ? 0 : 1))
    }

    @Test("The newest cookies of a host are kept up to its limit, and those of other hosts stay", arguments: [3, 5])
    func stored(rounds: Int) async throws {
        let fixture = try SessionFixture()
        let count = Mutex(0)
        let server = try fixture.server { [self] _ in
            let round = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return response((0..<50).map { "Set-Cookie:c\(round)-\($0)=v; Path=/" })
        }
        let configuration = URLSessionConfiguration.ephemeral
        let storage = try #require(configuration.httpCookieStorage)
        let other: [HTTPCookiePropertyKey: Any] = [.name: "o", .value: "1", .domain: "a.example", .path: "/"]
        storage.setCookie(try #require(HTTPCookie(properties: other)))
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        for _ in 0..<rounds { _ = try await session.data(from: try server.address()) }
        let names = Set((session.resources.settings.httpCookieStorage?.cookies ?? []).map(\.name))
        #expect(names.count == 1 + min(rounds * 50, CookieJar.hostLimit) && names.contains("o"))
        #expect(names.isSuperset(of: (0..<50).map { "c\(rounds - 1)-\($0)" }))
    }

    @Test(
        "The newest cookies of all hosts are kept up to a total number and size",
        arguments: [(2_999, 1, true), (3_000, 1, false), (200, 4_980, true), (201, 4_980, false)])
    func storedTogether(count: Int, length: Int, isRoom: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { [self] _ in response(["Set-Cookie:new=v"]) }
        let configuration = URLSessionConfiguration.ephemeral
        let storage = try #require(configuration.httpCookieStorage)
        let value = String(repeating: "v", count: length)
        for index in 0..<count {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "c\(index)", .value: value, .domain: "h\(index % 20).example", .path: "/",
            ]
            storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        _ = try await session.data(from: try server.address())
        let names = Set((session.resources.settings.httpCookieStorage?.cookies ?? []).map(\.name))
        #expect(names.count == (isRoom ? count + 1 : count) && names.contains("c0") == isRoom)
        #expect(names.isSuperset(of: ["new", "c1", "c\(count - 1)"]))
    }

    /// A pinned host that sets a cookie at `/login`, and a sibling host that answers over plain HTTP.
    private struct CookieHosts {
        let server: LoopbackTLSServer
        let plain: LoopbackTCPServer
        let session: PinnedURLSession

        init(login: String, plainAnswer: HTTPResponse) throws {
            let fixture = try SessionFixture()
            let identity = try fixture.root.issue(hosts: ["www.hosts.example"])
            server = try LoopbackTLSServer(
                identity,
                handler: { request in
                    guard request.target == "/login" else { return .ok }
                    return HTTPResponse(status: 200, reason: "OK", fields: [HTTPField("Set-Cookie", login)])
                })
            plain = try LoopbackTCPServer.http { _ in plainAnswer }
            var options = CurlTransport.Options()
            options.addresses = StringList([
                "www.hosts.example:\(server.port):127.0.0.1", "blog.hosts.example:\(plain.port):127.0.0.1",
            ])
            let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)))
            let rule = try PinnedHost(
                "www.hosts.example", pins: [pin], backup: .noneAccepted,
                anchors: .only([try Certificate(der: fixture.root.certificate.der)]))
            session = URLSession.pinned(to: try PinningPolicy(hosts: [rule]), options: options)
        }

        /// Returns the cookies that the pinned host gets after a login and some responses over plain HTTP.
        func cookies(afterPlainAnswers count: Int = 1) async throws -> Set<String> {
            _ = try await session.data(from: try server.address("login", host: "www.hosts.example"))
            for _ in 0..<count {
                _ = try await session.data(from: try #require(URL(string: "http://blog.hosts.example:\(plain.port)/")))
            }
            _ = try await session.data(from: try server.address(host: "www.hosts.example"))
            return Set((server.requests.last?["cookie"] ?? "").components(separatedBy: "; "))
        }
    }

    @Test(
        "Plain HTTP does not replace or join the secure cookie of a pinned host",
        arguments: [
            "Path=/; Domain=hosts.example", "Path=/; Domain=hosts.example; Secure",
            "Path=/; Max-Age=0; Domain=hosts.example",
        ])
    func fixation(attributes: String) async throws {
        let answer = response([
            "Set-Cookie:sid=fixed; \(attributes)", "Set-Cookie:other=1; Path=/; Domain=hosts.example",
        ])
        let hosts = try CookieHosts(login: "sid=good; Secure; Path=/; Domain=hosts.example", plainAnswer: answer)
        // Control: a cookie of another name is accepted.
        #expect(try await hosts.cookies() == ["sid=good", "other=1"])
    }

    @Test(
        "Plain HTTP does not evict a secure cookie; a cookie that is not secure is evicted by age",
        arguments: [true, false])
    func eviction(isSecure: Bool) async throws {
        let answer = response((0..<50).map { "Set-Cookie:c\($0)=v; Path=/; Domain=hosts.example" })
        let login = "sid=good; Path=/; Domain=hosts.example\(isSecure ? "; Secure" : "")"
        let hosts = try CookieHosts(login: login, plainAnswer: answer)
        let storage = try #require(hosts.session.resources.settings.httpCookieStorage)
        // The host has as many cookies as it may have, so further ones evict others.
        for index in 0..<CookieJar.hostLimit {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "old\(index)", .value: "v", .domain: ".hosts.example", .path: "/never",
            ]
            storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        #expect(try await hosts.cookies(afterPlainAnswers: 1).contains("sid=good"))
        for index in 0..<CookieJar.hostLimit {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "new\(index)", .value: "v", .domain: ".hosts.example", .path: "/never",
            ]
            storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        _ = try await hosts.session.data(
            from: try #require(URL(string: "http://blog.hosts.example:\(hosts.plain.port)/")))
        #expect((storage.cookies ?? []).contains { $0.name == "sid" } == isSecure)
    }

    @Test(
        "A cookie goes only to the host that both Foundation and libcurl find in a URL",
        arguments: ["127.0.0.1", "127.1"])
    func host(name: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.ephemeral
        let properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "b", .domain: name, .path: "/"]
        configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: properties)))
        let session = URLSession.pinned(to: try fixture.policy(["127.0.0.1"]), configuration: configuration)
        _ = try await session.data(from: try server.address(host: name))
        #expect(server.requests.map { $0["cookie"] } == [name == "127.0.0.1" ? "a=b" : nil])
    }
}
