/// A deliberate difference between a pinned session and Foundation for Linux, with its reason. Listed by exchange.
struct DeliberateDifference: Sendable {
    let reason: String
    /// The observation of the pinned session, by aspect; an empty string if there is none.
    let pinned: [String: String]
    /// The behavior of Foundation. If it traps or hangs, the exchange uses only the pinned session.
    var stock = Stock.answers

    enum Stock: Sendable {
        case answers, traps, hangs
    }

    private init(_ reason: String, _ pinned: [String: String], stock: Stock = .answers) {
        self.reason = reason
        self.pinned = pinned
        self.stock = stock
    }

    static let all: [String: DeliberateDifference] = [
        "repeated fields": .init(
            "names are the same in any case (RFC 9110 section 5.1)", ["fields": "Content-Length: 4\nX-A: 1, 2, 3"]),
        "case of names, blanks around values": .init(
            "blanks around a value do not belong to it (RFC 9110 section 5.5)",
            ["fields": "Content-Length: 4\nX-UPPER: w\nx-lower: v"]),
        "hints before the response": .init(
            "a response in between is not the response", ["events": "response 200, data, complete"]),
        "chunked with a trailer": .init(
            "trailers are passed over", ["body": "ab", "status": "200", "fields": "Transfer-Encoding: chunked"],
            stock: .traps),
        "dots in a path": .init(
            "a path may be a key or be signed, so it is sent as written",
            ["requests": "GET /a/../b/./c\naccept: */*\n"]),
        "unknown coding, and an Accept-Encoding of the app's own": .init(
            "the app that chooses the codings gets what it cannot have decoded",
            [
                "body": "body", "error": "", "fields": "Content-Encoding: x-none\nContent-Length: 4", "length": "4",
                "path": "/", "status": "200",
            ]),
        "unknown coding": .init("cannotDecodeContentData says more than unknown", ["error": "-1016"]),
        "broken gzip": .init("cannotDecodeContentData says more than unknown", ["error": "-1016"]),
        "upload of a stream": .init(
            "a server that does not know 100-continue makes every upload wait a second",
            [
                "events": "stream, response 200, data, complete",
                "requests":
                    "POST /\naccept: */*\ncontent-type: application/x-www-form-urlencoded\ntransfer-encoding: chunked\nbbbbb",
            ]),
        "307 of a POST": .init("the content goes with the method (RFC 9110 section 15.4.8)", kept("POST", "body")),
        "308 of a POST": .init("the content goes with the method (RFC 9110 section 15.4.9)", kept("POST", "body")),
        "303 of a HEAD": .init(
            "a HEAD stays a HEAD (RFC 9110 section 15.4.4)",
            [
                "body": "", "events": "redirect 303, response 200, complete",
                "requests": "HEAD /\naccept: */*\n\n--\nHEAD /end\naccept: */*\n",
            ]),
        "305 of a GET": unfollowed(305),
        "306 of a GET": unfollowed(306),
        "redirect of a PUT": .init("only a POST becomes a GET (RFC 9110 section 15.4.3)", kept("PUT", "aaaa")),
        "redirect to a path with dots": .init("the response's URL is the one that was requested", ["path": "/b"]),
        "redirect of a URL with a fragment": .init(
            "a redirect keeps the fragment (RFC 9110 section 10.2.2)", ["fragment": "part"]),
        "redirect without a place": .init(
            "the response is what there is, content included",
            ["body": "body", "events": "response 302, data, complete"]),
        "redirect to a relative path": .init(
            "a relative path begins where the request's ends (RFC 3986 section 5.2)",
            [
                "body": "/a/c?d=e", "fields": "Content-Length: 8\nContent-Type: text/plain; charset=utf-8",
                "length": "8",
                "path": "/a/c", "requests": "GET /a/b\naccept: */*\n\n--\nGET /a/c?d=e\naccept: */*\n",
            ]),
        "a cookie for another path": .init(
            "a cookie goes to its path (RFC 6265 section 5.4)",
            ["requests": "GET /\naccept: */*\n\n--\nGET /\naccept: */*\n"]),
        "a cookie that its Max-Age deletes": .init(
            "Max-Age goes before Expires (RFC 6265bis section 5.7)",
            ["requests": "GET /\naccept: */*\n\n--\nGET /\naccept: */*\n"]),
        "a cookie with a redirect": .init(
            "a redirect's cookie counts at once, whether the session or a delegate follows the redirect",
            ["requests": "GET /\naccept: */*\n\n--\nGET /end\naccept: */*\ncookie: a=b\n"]),
        "redirect, asynchronous with a delegate": .init(
            "the delegate of a call is asked about redirects, as on Apple's systems",
            ["events": "redirect 302, response 200, data"]),
        "download, asynchronous with a delegate": .init("the file holds the content once", ["body": "body"]),
        "content that ends early": .init("networkConnectionLost says more than unknown", ["error": "-1005"]),
        "chunks that end early": .init("networkConnectionLost says more than unknown", ["error": "-1005"]),
        "an answer that is none": .init("badServerResponse says more than unsupportedURL", ["error": "-1011"]),
        "no answer at all": .init("networkConnectionLost, as on Apple's systems", ["error": "-1005"]),
        "the right credential": .init(
            "a 401 that is answered is not the response, as on Apple's systems",
            ["events": "challenge 0, response 200, data, complete"]),
        "a wrong one, then the right one": .init(
            "a 401 that is answered is not the response, as on Apple's systems",
            ["events": "challenge 0, challenge 1, response 200, data, complete"]),
        "a challenge that is cancelled": .init(
            "a 401 that is cancelled is not the response, as on Apple's systems", ["events": "challenge 0, complete"]),
        "no credential for a challenge": .init(
            "the 401 is the response", ["status": "401", "events": "challenge 0, response 401, complete", "body": ""],
            stock: .hangs),
        "Digest": .init(
            "Digest is answered",
            [
                "events": "challenge 0, challenge 1, response 401, data, complete",
                "requests": "GET /\naccept: */*\n\n--\nGET /\naccept: */*\nauthorization: "
                    + "Digest username=\"user\", realm=\"r\", nonce=\"n\", uri=\"/\", response=\"5aa8f58fc6ae40b868e56a6d34b1cd10\"\n",
            ]),
        "to be loaded from nowhere else": .init(
            "the cache policy is obeyed",
            ["error": "-1008", "body": "", "fields": "", "length": "", "path": "", "requests": "", "status": ""]),
    ]

    private static func unfollowed(_ status: Int) -> DeliberateDifference {
        .init(
            "305 and 306 are not redirects any more (RFC 9110 sections 15.4.6 and 15.4.7)",
            [
                "body": "", "events": "response \(status), complete", "fields": "Content-Length: 0\nLocation: /end",
                "length": "0", "path": "/", "requests": "GET /\naccept: */*\n", "status": "\(status)",
            ])
    }

    private static func kept(_ method: String, _ body: String) -> [String: String] {
        let type = method == "POST" ? "content-type: application/x-www-form-urlencoded\n" : ""
        let message = "accept: */*\ncontent-length: 4\n\(type)\(body)"
        return ["requests": "\(method) /\n\(message)\n--\n\(method) /end\n\(message)"]
    }
}
