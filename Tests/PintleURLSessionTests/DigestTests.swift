import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

@Suite("Digest authentication")
struct DigestTests {
    @Test(
        "The answers match the examples of RFC 7616",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func vectors(algorithm: String, response: String) throws {
        // RFC 7616 section 3.9.1.
        let field =
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), "
            + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        let challenge = try #require(AuthenticationChallenges([field]).all.first.flatMap(DigestChallenge.init))
        let answer = challenge.answer(
            user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html", count: 1,
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(
            answer
                == "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", "
                + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", uri=\"/dir/index.html\", "
                + "response=\"\(response)\", algorithm=\(algorithm), qop=auth, nc=00000001, "
                + "cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", "
                + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"")
    }

    @Test("A quotation mark is escaped, even with a combining mark on it", arguments: ["a\"\u{301}b", "a\u{301}b"])
    func quotation(user: String) throws {
        let challenge = try #require(
            AuthenticationChallenges(["Digest realm=\"r\", nonce=\"n\""]).all.first.flatMap(DigestChallenge.init))
        let answer = challenge.answer(
            user: user, password: "p", method: "GET", target: "/", count: 1, clientNonce: "")
        let escaped = user.unicodeScalars.contains("\"") ? "a\\\"\u{301}b" : user
        #expect(Data((answer ?? "").utf8).range(of: Data("username=\"\(escaped)\", realm".utf8)) != nil)
    }

    @Test("A server older than RFC 2617 gets the answer of RFC 2069")
    func withoutQuality() throws {
        // RFC 2069 section 2.4, corrected by erratum 749.
        let field =
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc\""
        let challenge = try #require(AuthenticationChallenges([field]).all.first.flatMap(DigestChallenge.init))
        let answer = challenge.answer(
            user: "Mufasa", password: "CircleOfLife", method: "GET", target: "/dir/index.html", count: 1,
            clientNonce: "")
        #expect(answer?.contains("response=\"1949323746fe6a43ef61f9606e7febea\"") == true)
        #expect(answer?.contains("qop") == false)
    }

    @Test(
        "The parser tells challenges from parameters and skips invalid text",
        arguments: [
            ("Basic realm=\"a\"", ["basic realm=a"]), ("basic", ["basic"]), ("Basic, NTLM", ["basic", "ntlm"]),
            ("Negotiate YII=, Basic realm = b", ["negotiate", "basic realm=b"]),
            ("Negotiate YIIabc, Basic realm=\"a \\\"b\\\", c\"", ["negotiate", "basic realm=a \"b\", c"]),
            (
                "Newauth realm=\"apps\", type=1, title=\"x\", Basic realm=\"simple\"",
                ["newauth realm=apps title=x type=1", "basic realm=simple"]
            ),
            ("Basic realm=\"a\", realm=\"b\"", ["basic realm=a"]), ("Basic realm=\"a", ["basic"]), ("", []),
            (",, ,Basic", ["basic"]), ("=x, \"y\", Basic", ["basic"]), ("realm=\"x\"", []),
        ])
    func parsing(field: String, expected: [String]) {
        let read = AuthenticationChallenges([field]).all.map { challenge in
            ([challenge.scheme] + challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
                .joined(separator: " ")
        }
        #expect(read == expected)
    }

    @Test("Only the first 16 of a thousand challenges are read")
    func limit() {
        let field = Array(repeating: "Basic realm=\"a\"", count: 1_000).joined(separator: ", ")
        #expect(AuthenticationChallenges([field, field]).all.count == AuthenticationChallenges.limit)
    }

    /// A server that checks nonces, counts and answers. It computes the expected answer with the code under test, which
    /// the tests above compare with the RFC's examples.
    private final class Guard: Sendable {
        let log = Mutex<(nonces: [String], counts: [String])>(([], []))

        func admits(_ request: HTTPRequest, nonce: String) -> Bool {
            let value = request["authorization"]
            guard let field = value.flatMap({ AuthenticationChallenges([$0]).all.first?.parameters }) else {
                return false
            }
            log.withLock { log in
                log.nonces.append(field["nonce"] ?? "none")
                log.counts.append(field["nc"] ?? "none")
            }
            let text = "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=SHA-256"
            guard field["nonce"] == nonce, let count = field["nc"].flatMap({ UInt32($0, radix: 16) }),
                let challenge = AuthenticationChallenges([text]).all.first.flatMap(DigestChallenge.init),
                let expected = challenge.answer(
                    user: "user", password: "pass", method: request.method, target: request.target, count: count,
                    clientNonce: field["cnonce"] ?? "")
            else { return false }
            return AuthenticationChallenges([expected]).all.first?.parameters["response"] == field["response"]
        }
    }

    @Test(
        "The client counts the uses of a nonce, and renews an expired nonce without asking",
        arguments: ["pass", "wrong"])
    func session(password: String) async throws {
        let fixture = try SessionFixture()
        let door = Guard()
        let challenge = "Digest realm=\"r\", qop=\"auth\", algorithm=SHA-256"
        let server = try fixture.server { request in
            // The page behind the redirect wants another nonce.
            let nonce = request.target == "/late" ? "second" : "first"
            if door.admits(request, nonce: nonce) {
                return switch request.target {
                case "/?a=b": .redirect(to: "/again")
                case "/again": .redirect(to: "/late")
                default: .ok
                }
            }
            let stale = request.target == "/late" ? ", stale=true" : ""
            return .unauthorized(challenge: "\(challenge), nonce=\"\(nonce)\"\(stale)")
        }
        let delegate = RecordingDelegate { challenge in
            guard challenge.previousFailureCount == 0 else { return (.performDefaultHandling, nil) }
            return (.useCredential, URLCredential(user: "user", password: password, persistence: .none))
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address("?a=b"))
        if password == "pass" {
            #expect(
                delegate.events == ["challenge 0", "redirect 302", "response 200", "data", "complete"])
            let log = door.log.withLock { $0 }
            #expect(log.nonces == ["first", "first", "first", "second"])
            #expect(log.counts == ["00000001", "00000002", "00000003", "00000001"])
        } else {
            #expect(delegate.events == ["challenge 0", "challenge 1", "response 401", "complete"])
        }
    }
}
