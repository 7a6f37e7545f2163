import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import PintleURLSession

/// `Max-Age` and `Expires`, as the session reads them and as Foundation's storage then keeps the cookie.
@Suite("Lifetimes of cookies")
struct CookieLifetimeTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// Returns the seconds after which the cookie expires; `nil` for a cookie of the session.
    private func lifetime(_ attributes: String) throws -> Double? {
        var head = ResponseHead()
        head.fields.append(("Set-Cookie", "a=b; \(attributes)"))
        let url = try #require(URL(string: "https://a.example/"))
        let cookie = try #require(head.cookies(for: url, at: now).first)
        #expect(cookie.value == "b" && cookie.isSessionOnly == (cookie.expiresDate == nil))
        return cookie.expiresDate?.timeIntervalSince(now)
    }

    private static let past = Date.distantPast.timeIntervalSince(Date(timeIntervalSince1970: 1_800_000_000))
    private static let limit = Double(SetCookie.longestAge)

    @Test(
        "Max-Age is a number of seconds of any length, and expires the cookie at once if it is not positive",
        arguments: [
            ("Max-Age=3600", 3_600), ("max-age = 1 ", 1), ("MAX-AGE=007", 7), ("Max-Age=0", past), ("Max-Age=00", past),
            ("Max-Age=-0", past), ("Max-Age=-1", past), ("Max-Age=-99999999999999999999", past),
            ("Max-Age=34560000", limit), ("Max-Age=34560001", limit),
            ("Max-Age=9223372036854775808", limit), ("Max-Age=\(String(repeating: "9", count: 1_000))", limit),
            // The last one that can be read counts.
            ("Max-Age=5; Max-Age=6", 6), ("Max-Age=5; Max-Age=x", 5),
        ] as [(String, Double)])
    func age(attributes: String, seconds: Double) throws {
        #expect(try lifetime(attributes) == seconds)
    }

    @Test(
        "A Max-Age that is no number is ignored",
        arguments: [
            "Max-Age=", "Max-Age", "Max-Age=-", "Max-Age=--1", "Max-Age=+5", "Max-Age=5s", "Max-Age=1.5", "Max-Age=0x9",
            "Max-Age=1 2", "Max-Age=\"5\"", "X-Max-Age=5", "Max-Age=\(String(repeating: "0", count: 1_025))",
        ])
    func notAge(attribute: String) throws {
        #expect(try lifetime(attribute) == nil)
        #expect(try lifetime("\(attribute); Expires=Fri, 15 Jan 2027 08:00:10 GMT") == 10)
        #expect(try lifetime("\(attribute); Max-Age=5") == 5)
    }

    @Test("Max-Age overrides Expires, whichever comes first and whichever is longer", arguments: [true, false])
    func precedence(ageIsFirst: Bool) throws {
        func pair(_ age: Int, _ expires: String) -> String {
            let parts = ["Max-Age=\(age)", "Expires=\(expires)"]
            return (ageIsFirst ? parts : parts.reversed()).joined(separator: "; ")
        }
        let (past, future) = ("Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 15 Jan 2027 08:00:10 GMT")
        #expect(try lifetime(pair(60, past)) == 60)
        #expect(try lifetime(pair(60, future)) == 60)
        #expect(try lifetime(pair(0, future)) == Self.past)
        // Control: without Max-Age the date decides.
        #expect(try lifetime("Expires=\(past)") == -1_800_000_000 && lifetime("Expires=\(future)") == 10)
    }

    @Test("A cookie is kept for at most 400 days")
    func longest() throws {
        #expect(try lifetime("Expires=Wed, 01 Jan 2031 00:00:00 GMT") == Self.limit)
        #expect(try lifetime("Expires=Fri, 31 Dec 9999 23:59:59 GMT") == Self.limit)
        #expect(try lifetime("Expires=Sat, 19 Feb 2028 08:00:00 GMT") == Self.limit)
        #expect(try lifetime("Expires=Sat, 19 Feb 2028 07:59:59 GMT") == Self.limit - 1)
    }

    @Test(
        "A date is read in every form that the standard's algorithm reads",
        arguments: [
            "Fri, 15 Jan 2027 08:00:10 GMT", "Friday, 15-Jan-27 08:00:10 GMT", "Fri Jan 15 08:00:10 2027",
            "15 jan 2027 8:0:10", "08:00:10 15 January 2027", "2027 Jan 15 08:00:10", "Fri, 15-JAN-2027 08:00:10 UTC",
            "Fri, 15 Jan 2027 08:00:10 -0800", "15/Jan/27 08:00:10", "15th Jan 2027 08:00:10",
            "\t15 Jan 2027\t08:00:10",
            "15 Jan 2027 08:00:10x", "15 Jan 27y 08:00:10 1 2 3",
        ])
    func dates(text: String) {
        #expect(CookieDate.seconds(in: text.utf8) == 1_800_000_010)
    }

    @Test("A year of two digits from 70 on is in the last century")
    func twoDigits() {
        #expect(CookieDate.seconds(in: "Thursday, 01-Jan-70 00:00:00 GMT".utf8) == 0)
        #expect(CookieDate.seconds(in: "01 Jan 99 00:00:00".utf8) == 915_148_800)
        #expect(CookieDate.seconds(in: "01 Jan 69 00:00:00".utf8) == 3_124_224_000)
        #expect(CookieDate.seconds(in: "01 Jan 00 00:00:00".utf8) == 946_684_800)
        #expect(CookieDate.seconds(in: "01 Jan 1601 00:00:00".utf8) == -11_644_473_600)
    }

    @Test(
        "A date with a missing part or an impossible one is none",
        arguments: [
            "", "Fri", "15 Jan 2027", "15 2027 08:00:10", "Jan 2027 08:00:10", "15 Jan 08:00:10",
            "15 Jan 2027 08:00", "15 Jan 2027 24:00:00", "15 Jan 2027 08:60:00", "15 Jan 2027 08:00:60",
            "15 Jan 2027 008:00:00", "32 Jan 2027 08:00:10", "0 Jan 2027 08:00:10", "30 Feb 2027 08:00:10",
            "29 Feb 2027 08:00:10", "15 Jab 2027 08:00:10", "15 Jan 1600 08:00:10", "15 Jan 2 08:00:10",
            "15 Jan 02027 08:00:10", "015 Jan 2027 08:00:10",
        ])
    func notDates(text: String) throws {
        #expect(CookieDate.seconds(in: text.utf8) == nil)
        #expect(try lifetime("Expires=\(text)") == nil)
        // Twin: the same cookie with a date that can be read.
        #expect(try lifetime("Expires=\(text); Expires=15 Jan 2027 08:00:10") == 10)
    }

    @Test("Other attributes count by their name in any case, and the last one of a name counts")
    func attributes() throws {
        func cookie(_ attributes: String) throws -> HTTPCookie {
            var head = ResponseHead()
            head.fields.append(("Set-Cookie", "a = b=\"c\" ;\(attributes)"))
            let url = try #require(URL(string: "https://www.a.example/x"))
            return try #require(head.cookies(for: url).first)
        }
        #expect(try cookie("").value == "b=\"c\"" && cookie("").name == "a" && cookie("").path == "/")
        #expect(try !cookie("").isSecure && cookie("; ;secure ;HttpOnly=").isSecure && cookie("Secure=no").isSecure)
        #expect(try !cookie("").isHTTPOnly && cookie("HTTPONLY").isHTTPOnly)
        #expect(try cookie("path=/a; Path=/b").path == "/b" && cookie("Path=b").path == "/")
        #expect(try cookie("Path=/\(String(repeating: "a", count: 1_024))").path == "/")
        #expect(try cookie("Path=/\(String(repeating: "a", count: 1_023))").path.utf8.count == 1_024)
        #expect(try cookie("Domain=").domain == "www.a.example" && cookie("domain=.A.example").domain == ".a.example")
        // Attributes of an older standard have no effect (RFC 6265).
        #expect(try cookie("Version=1; Discard; Comment=c; Max-Age=5").isSessionOnly == false)
    }
}

extension HostilePeers {
    /// Servers that end a login by the lifetime of its cookie.
    @Suite("Cookies that end")
    struct EndingCookies {
        /// Returns the cookies that a server gets after it has set some, one in each response.
        private func sent(after cookies: [String], waiting seconds: Double = 0) async throws -> String? {
            let fixture = try SessionFixture()
            let server = try fixture.server { request in
                let number = Int(request.target.dropFirst())
                let fields = number.map { [HTTPField("Set-Cookie", cookies[$0])] } ?? []
                return HTTPResponse(status: 200, reason: "OK", fields: fields)
            }
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
            for number in cookies.indices { _ = try await session.data(from: try server.address("\(number)")) }
            if seconds > 0 { try await Task.sleep(for: .seconds(seconds)) }
            _ = try await session.data(from: try server.address("end"))
            return server.requests.last?["cookie"]
        }

        @Test(
            "A log-out deletes the login's cookie by Max-Age or by any form of Expires",
            arguments: [
                "sid=; Path=/; Max-Age=0", "sid=deleted; Path=/; Max-Age=-1; HttpOnly; Secure",
                "sid=; Max-Age=0; Expires=Fri, 31 Dec 9999 23:59:59 GMT",
                "sid=; Path=/; Expires=Thursday, 01-Jan-70 00:00:00 GMT", "sid=; Expires=Thu Jan 1 00:00:00 1970",
            ])
        func logOut(cookie: String) async throws {
            #expect(try await sent(after: ["sid=secret; Path=/; Secure; Max-Age=60", cookie, "b=1"]) == "b=1")
            // Twin: a cookie of another path is another cookie.
            let other = "\(cookie); Path=/other"
            #expect(try await sent(after: ["sid=secret; Path=/; Max-Age=60", other, "b=1"]) == "b=1; sid=secret")
        }

        @Test("A cookie is not sent after its Max-Age, although no other cookie was set since then")
        func end() async throws {
            #expect(try await sent(after: ["b=1; Max-Age=60", "sid=secret; Max-Age=1"], waiting: 1.1) == "b=1")
            #expect(try await sent(after: ["b=1; Max-Age=60", "sid=secret; Max-Age=60"]) == "b=1; sid=secret")
        }

        @Test("A cookie with Max-Age is still there when the program starts again; one without a lifetime is not")
        func lasting() async throws {
            let fixture = try SessionFixture()
            let server = try fixture.server { _ in
                let fields = ["lasting=1; Max-Age=60", "session=1", "over=1; Max-Age=60; Max-Age=0"]
                return HTTPResponse(status: 200, reason: "OK", fields: fields.map { HTTPField("Set-Cookie", $0) })
            }
            let configuration = URLSessionConfiguration.ephemeral
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            _ = try await session.data(from: try server.address())
            // Foundation's storage writes only such cookies to its file.
            let kept = (configuration.httpCookieStorage?.cookies ?? []).filter {
                $0.expiresDate.map { $0.timeIntervalSinceNow > 0 } == true && !$0.isSessionOnly
            }
            #expect(kept.map(\.name) == ["lasting"])
            #expect(Set((configuration.httpCookieStorage?.cookies ?? []).map(\.name)) == ["lasting", "session"])
        }
    }
}
