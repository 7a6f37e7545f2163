import Foundation
import FoundationNetworking
import PintleTestKit

/// The list of exchanges, by topic.
enum Exchanges {
    static let all = messages + codings + requests + redirects + cookies + failures + authentication + caching

    private static func response(
        _ status: Int, _ fields: [String] = [], _ body: String = "body"
    ) -> @Sendable (HTTPRequest) -> HTTPResponse {
        let fields = fields.map { field in
            let parts = field.split(separator: ":", maxSplits: 1).map(String.init)
            return HTTPField(parts[0], String(parts[1].dropFirst()))
        }
        return { _ in HTTPResponse(status: status, reason: "Reason", fields: fields, body: Array(body.utf8)) }
    }

    private static func raw(_ text: String) -> @Sendable (HTTPRequest) -> HTTPResponse {
        { _ in .raw(Array(text.utf8)) }
    }

    static let messages: [Exchange] = [
        Exchange("200, asynchronous", .asynchronous) { $0.answer = response(200) },
        Exchange("200, completion handler", .completionHandler) { $0.answer = response(200) },
        Exchange("200, delegate") { $0.answer = response(200) },
        Exchange("404") { $0.answer = response(404) },
        Exchange("500, completion handler", .completionHandler) { $0.answer = response(500) },
        Exchange("empty content") { $0.answer = response(200, [], "") },
        Exchange("204") { $0.answer = response(204, [], "") },
        Exchange("304") {
            $0.fields = ["If-None-Match": "\"x\""]
            $0.answer = response(304, ["ETag: \"x\""], "")
        },
        Exchange("HEAD") {
            $0.method = "HEAD"
            $0.answer = response(200)
        },
        Exchange("repeated fields") { $0.answer = response(200, ["X-A: 1", "x-a: 2", "X-A: 3"]) },
        Exchange("case of names, blanks around values") {
            $0.answer = response(200, ["x-lower:   v  ", "X-UPPER: w"])
        },
        Exchange("hints before the response") {
            $0.answer = raw("HTTP/1.1 103 Early Hints\r\nX-H: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        },
        Exchange("download, completion handler", .download) { $0.answer = response(200) },
        Exchange("download, delegate", .downloadDelegate) { $0.answer = response(200) },
        Exchange("download, 404", .download) { $0.answer = response(404) },
        Exchange("200, asynchronous with a delegate", .asynchronousDelegate) { $0.answer = response(200) },
        Exchange("404, asynchronous with a delegate", .asynchronousDelegate) { $0.answer = response(404) },
        Exchange("redirect, asynchronous with a delegate", .asynchronousDelegate) { $0.answer = redirecting(302) },
        Exchange("download, asynchronous with a delegate", .downloadAsynchronousDelegate) { $0.answer = response(200) },
    ]

    static let codings: [Exchange] = [
        Exchange("chunked") {
            $0.answer = raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
        },
        Exchange("chunked with a trailer") {
            $0.answer = raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX-T: 1\r\n\r\n")
        },
        Exchange("close without length") { $0.answer = raw("HTTP/1.1 200 OK\r\n\r\nabc") },
        Exchange("HTTP/1.0") { $0.answer = raw("HTTP/1.0 200 OK\r\n\r\nabc") },
        Exchange("gzip") { exchange in
            exchange.answer = { _ in
                HTTPResponse(
                    status: 200, reason: "OK", fields: [HTTPField("Content-Encoding", "gzip")],
                    body: [
                        0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0xE7, 0x02, 0x00, 0x20,
                        0x30, 0x3A, 0x36, 0x06, 0, 0, 0,
                    ])
            }
        },
        Exchange("unknown coding", .asynchronous) { $0.answer = response(200, ["Content-Encoding: x-none"]) },
        Exchange("unknown coding, and an Accept-Encoding of the app's own", .asynchronous) {
            $0.fields = ["Accept-Encoding": "identity"]
            $0.answer = response(200, ["Content-Encoding: x-none"])
        },
        Exchange("broken gzip", .asynchronous) { $0.answer = response(200, ["Content-Encoding: gzip"]) },
    ]

    static let requests: [Exchange] = [
        Exchange("POST, a body in the request") {
            $0.method = "POST"
            $0.body = "a=b"
        },
        Exchange("POST without a body") { $0.method = "POST" },
        Exchange("PUT, with a type") {
            $0.method = "PUT"
            $0.body = "{}"
            $0.fields = ["Content-Type": "application/json"]
        },
        Exchange("DELETE") { $0.method = "DELETE" },
        Exchange("PATCH, OPTIONS and their like") {
            $0.method = "PATCH"
            $0.body = "x"
        },
        Exchange("a method of one's own") { $0.method = "PURGE" },
        Exchange("GET with a body", .asynchronous) { $0.body = "x" },
        Exchange("GET with empty data") { $0.body = "" },
        Exchange("POST with empty data") {
            $0.method = "POST"
            $0.body = ""
        },
        Exchange("GET, upload of nothing", .uploadData(0)),
        Exchange("HEAD with empty data") {
            $0.method = "HEAD"
            $0.body = ""
        },
        Exchange("HEAD with content") {
            $0.method = "HEAD"
            $0.body = "x"
        },
        Exchange("HEAD, upload of data", .uploadData(3)) { $0.method = "HEAD" },
        Exchange("upload of data", .uploadData(3)) { $0.method = "POST" },
        Exchange("upload of much data", .uploadData(200_000)) { $0.method = "PUT" },
        Exchange("upload of nothing", .uploadData(0)) { $0.method = "POST" },
        Exchange("upload of a file", .uploadFile(3)) { $0.method = "POST" },
        Exchange("upload of no file", .uploadMissingFile) { $0.method = "POST" },
        Exchange("upload of a stream", .uploadStream(5)) { $0.method = "POST" },
        Exchange("a stream in the request") {
            $0.method = "POST"
            $0.bodyStream = "stream"
        },
        Exchange("fields of the request and of the session") { exchange in
            exchange.fields = ["X-Both": "request", "X-Empty": "", "x-own": "1"]
            exchange.configure = { $0.httpAdditionalHeaders = ["x-both": "session", "X-Session": "2"] }
        },
        Exchange("query and fragment") { $0.path = "/a%20b/c?d=e%2Ff&g#h" },
        Exchange("dots in a path") { $0.path = "/a/../b/./c" },
    ]

    private static func redirecting(_ status: Int, to end: String = "/end") -> @Sendable (HTTPRequest) -> HTTPResponse {
        { $0.target == "/end" ? .text("end") : .redirect(to: end, status: status) }
    }

    static let redirects: [Exchange] =
        [301, 302, 303, 307, 308].flatMap { status in
            [
                Exchange("\(status) of a GET") { $0.answer = redirecting(status) },
                Exchange("\(status) of a POST") {
                    $0.method = "POST"
                    $0.body = "body"
                    $0.answer = redirecting(status)
                },
            ]
        } + [
            Exchange("303 of a HEAD") {
                $0.method = "HEAD"
                $0.answer = redirecting(303)
            },
            Exchange("305 of a GET") { $0.answer = redirecting(305) },
            Exchange("306 of a GET") { $0.answer = redirecting(306) },
            Exchange("redirect of a PUT", .uploadData(4)) {
                $0.method = "PUT"
                $0.answer = redirecting(302)
            },
            Exchange("redirect, asynchronous", .asynchronous) { $0.answer = redirecting(302) },
            Exchange("redirect of a download", .downloadDelegate) { $0.answer = redirecting(302) },
            Exchange("redirect that the delegate refuses") {
                $0.followsRedirects = false
                $0.answer = redirecting(302)
            },
            Exchange("redirect without a place") { $0.answer = response(302) },
            Exchange("300") { $0.answer = response(300, ["Location: /end"]) },
            Exchange("redirect to a relative path") {
                $0.path = "/a/b"
                $0.answer = { $0.target == "/a/b" ? .redirect(to: "c?d=e") : .text($0.target) }
            },
            Exchange("redirect of a URL with a fragment") {
                $0.path = "/#part"
                $0.answer = redirecting(302)
            },
            Exchange("redirect to a path with dots") {
                $0.answer = { $0.target == "/" ? .redirect(to: "/a/../b") : .text($0.target) }
            },
            Exchange("redirect in a circle", .asynchronous) { $0.answer = { _ in .redirect(to: "/again") } },
            Exchange("redirect with credentials, same origin") {
                $0.fields = ["Authorization": "Bearer x"]
                $0.answer = redirecting(302)
            },
        ]

    static let cookies: [Exchange] = [
        Exchange("a cookie is sent again", .asynchronous) {
            $0.isRepeated = true
            $0.answer = response(200, ["Set-Cookie: a=b; Path=/"])
        },
        Exchange("two cookies", .asynchronous) {
            $0.isRepeated = true
            $0.answer = response(200, ["Set-Cookie: a=b; Path=/", "Set-Cookie: c=d; Path=/"])
        },
        Exchange("a cookie for another path", .asynchronous) {
            $0.isRepeated = true
            $0.answer = response(200, ["Set-Cookie: a=b; Path=/other"])
        },
        Exchange("no cookies wanted", .asynchronous) { exchange in
            exchange.isRepeated = true
            exchange.configure = { $0.httpShouldSetCookies = false }
            exchange.answer = response(200, ["Set-Cookie: a=b; Path=/"])
        },
        Exchange("no cookies accepted", .asynchronous) { exchange in
            exchange.isRepeated = true
            exchange.configure = { $0.httpCookieAcceptPolicy = .never }
            exchange.answer = response(200, ["Set-Cookie: a=b; Path=/"])
        },
        Exchange("a cookie that its Max-Age deletes", .asynchronous) {
            $0.isRepeated = true
            $0.answer = response(200, ["Set-Cookie: a=b; Path=/", "Set-Cookie: a=; Path=/; Max-Age=0"])
        },
        Exchange("a cookie that its date deletes", .asynchronous) {
            $0.isRepeated = true
            $0.answer = response(
                200, ["Set-Cookie: a=b; Path=/", "Set-Cookie: a=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
        },
        Exchange("a cookie with a redirect") {
            $0.answer = { request in
                guard request.target != "/end" else { return .text("end") }
                var response = HTTPResponse.redirect(to: "/end")
                response.fields.append(HTTPField("Set-Cookie", "a=b; Path=/"))
                return response
            }
        },
    ]

    static let failures: [Exchange] = [
        Exchange("no URL, asynchronous", .asynchronous) { $0.place = .none },
        Exchange("no URL, delegate") { $0.place = .none },
        Exchange("refused port") { $0.place = .refusedPort },
        Exchange("unknown host") { $0.place = .unknownHost },
        Exchange("content that ends early") { $0.answer = raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc") },
        Exchange("chunks that end early", .asynchronous) {
            $0.answer = raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
        },
        Exchange("no answer at all") { $0.answer = raw("") },
        Exchange("an answer that is none", .asynchronous) { $0.answer = raw("SSH-2.0-server\r\n") },
        Exchange("an answer that never comes") {
            $0.timeout = 1
            $0.answer = { _ in
                Thread.sleep(forTimeInterval: 2.5)
                return .ok
            }
        },
        Exchange("cancelled before it starts", .cancelledEarly),
        Exchange("cancelled on the way", .cancelledLate) {
            $0.answer = { _ in
                Thread.sleep(forTimeInterval: 2)
                return .ok
            }
        },
    ]

    private static func credential(_ password: String) -> URLCredential {
        URLCredential(user: "user", password: password, persistence: .none)
    }

    private static let guarded: @Sendable (HTTPRequest) -> HTTPResponse = { request in
        request["authorization"] == "Basic dXNlcjpyaWdodA==" ? .ok : .unauthorized()
    }

    static let authentication: [Exchange] = [
        Exchange("the right credential") {
            $0.challenge = { _ in (.useCredential, credential("right")) }
            $0.answer = guarded
        },
        Exchange("a wrong one, then the right one") {
            $0.challenge = { (.useCredential, credential($0.previousFailureCount == 0 ? "wrong" : "right")) }
            $0.answer = guarded
        },
        Exchange("a challenge that is cancelled") {
            $0.challenge = { _ in (.cancelAuthenticationChallenge, nil) }
            $0.answer = guarded
        },
        Exchange("no credential for a challenge") { $0.answer = guarded },
        Exchange("Digest") {
            $0.challenge = {
                $0.previousFailureCount == 0 ? (.useCredential, credential("right")) : (.useCredential, nil)
            }
            $0.answer = response(401, ["WWW-Authenticate: Digest realm=\"r\", nonce=\"n\""])
        },
        Exchange("401 without a challenge") { $0.answer = response(401) },
        Exchange("an Authorization of one's own") {
            $0.fields = ["Authorization": "Basic dXNlcjpyaWdodA=="]
            $0.answer = guarded
        },
    ]

    static let caching: [Exchange] = [
        Exchange("fresh", .asynchronous) {
            $0.isRepeated = true
            $0.answer = response(200, ["Cache-Control: max-age=60"])
        },
        Exchange("to be loaded from nowhere else", .asynchronous) { $0.cachePolicy = .returnCacheDataDontLoad },
    ]
}
