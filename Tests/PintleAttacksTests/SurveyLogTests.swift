import Testing

@testable import PintleAttacks
@testable import PintleTestKit

/// The hosts of a survey and the turns of the authorities.
@Suite("Survey log")
struct SurveyLogTests {
    private static let (http1, http2) = (
        ClientHello(applicationProtocols: ["http/1.1"], versions: [0x0304]),
        ClientHello(applicationProtocols: ["h2"], versions: [0x0304])
    )
    private static let endpoint = SurveyLog.Endpoint("A.example.", 443)

    @Test("Of 10,000 hosts the first 1,000 are surveyed, and the rest are counted once each")
    func manyHosts() {
        let log = SurveyLog(hasRuns: true)
        for _ in 0..<2 {
            for number in 0..<10_000 {
                let endpoint = SurveyLog.Endpoint("host\(number).example", 443)
                #expect(log.hasRoom(for: endpoint) == (number < SurveyLog.hostLimit))
                log.update(endpoint, "") { $0.emptyCount += 1 }
            }
        }
        #expect(log.hosts().count == SurveyLog.hostLimit && log.unsurveyedCount == 9_000)
        #expect(log.hosts().first?.name == "host0.example")
    }

    @Test("All connections of a run meet the same authority, first the known one, and at last the known one again")
    func runs() {
        let log = SurveyLog(hasRuns: true)
        var issuers: [SurveyAuthorities.Issuer] = []
        while log.beginRound() {
            let met = [Self.http1, Self.http2, Self.http1].compactMap { log.next(at: Self.endpoint, $0).issuer }
            #expect(Set(met).count == 1)
            issuers.append(met[0])
        }
        #expect(issuers == [.known, .known, .unknown, .unknown])
        #expect(log.next(at: Self.endpoint, Self.http1).issuer == .known)
        #expect(!log.isReplaced(at: Self.endpoint))
    }

    @Test("Without runs each stack takes turns of its own")
    func connections() {
        let log = SurveyLog(hasRuns: false)
        let issuers = (0..<5).map { _ in log.next(at: Self.endpoint, Self.http1).issuer }
        #expect(issuers == [.known, .known, .unknown, .unknown, .known])
        #expect(!log.isReplaced(at: Self.endpoint))
        #expect(log.next(at: Self.endpoint, Self.http2).issuer == .known)
        #expect(log.isReplaced(at: Self.endpoint))
    }

    @Test("A named host that the client accepts and has not asked for meets an interceptor twice, without the others")
    func unmetHost() {
        let other = SurveyLog.Endpoint("b.example", 443)
        let log = SurveyLog(hasRuns: true, named: [Self.endpoint, other])
        #expect(log.beginRound())
        log.update(Self.endpoint, "") { $0.plainCount += 1 }
        // A client that refuses the right server, or does not ask for it, would ask for nothing.
        #expect(!log.beginTargetedRound(acceptingRightServer: ["a.example:443"]))
        for _ in 0..<2 {
            #expect(log.beginTargetedRound(acceptingRightServer: ["a.example:443", "b.example:443"]))
            #expect(log.next(at: Self.endpoint, Self.http1).issuer == nil)
            #expect(log.next(at: other, Self.http1).issuer == .known)
        }
        #expect(!log.beginTargetedRound(acceptingRightServer: ["a.example:443", "b.example:443"]))
    }

    @Test("A client that asks for an address and names a host in its ClientHello is surveyed at that host")
    func names() {
        #expect(SurveyLog.Endpoint("192.0.2.7", 443).named("B.example") == SurveyLog.Endpoint("b.example", 443))
        #expect(SurveyLog.Endpoint("::1", 443).named("b.example") == SurveyLog.Endpoint("b.example", 443))
        #expect(SurveyLog.Endpoint("192.0.2.7", 443).named(nil).name == "192.0.2.7")
        #expect(Self.endpoint.named("b.example") == Self.endpoint && Self.endpoint.name == "a.example")
    }

    @Test("A request is shown without its query, its long segments and all but two of its segments")
    func masks() {
        func masked(_ method: String, _ target: String) -> String {
            MaskedRequest(HTTPRequest(method: method, target: target, version: "HTTP/1.1", fields: [])).text
        }
        #expect(masked("GET", "/") == "GET /")
        #expect(masked("GET", "/v1/users") == "GET /v1/users")
        #expect(masked("POST", "/v1/users/7/mails?key=1") == "POST /v1/users/…?…")
        #expect(masked("GET", "http://a.example/v1#x") == "GET /v1?…")
        #expect(masked("GET", "/bot\(String(repeating: "1", count: 40))/send") == "GET /…/send")
        #expect(masked("g et", "*") == "… /")
        #expect(masked("GET", "/cb?next=https://b.example/secret/secret") == "GET /cb?…")
        #expect(masked("GET", "https://a.example?q=/secret") == "GET /?…")
        #expect(masked("CONNECT", "user:secret@b.example:443") == "CONNECT /")
        #expect(masked("GET", "/v1;session=secret/users") == "GET /v1/users")
    }

    @Test("First bytes name a protocol, and only four of them are shown of an unknown one")
    func protocols() {
        #expect(ForeignProtocol.isHTTP(Array("GET / HTTP/1.1".utf8)))
        #expect(ForeignProtocol.isHTTP(Array("M-SEARCH * HTTP/1.1".utf8)))
        #expect(ForeignProtocol.isHTTP(Array("\r\nget / HTTP/1.1".utf8)))
        #expect(ForeignProtocol.isHTTP(Array("M1 / HTTP/1.1".utf8)))
        #expect(ForeignProtocol.isHTTP(Array("UPDATEREDIRECTREF / HTTP/1.1".utf8)))
        #expect(!ForeignProtocol.isHTTP(Array("login user=bob\n".utf8)))
        for (bytes, name) in [
            (Array("SSH-2.0-x".utf8), "SSH"), ([0x10, 16, 0, 4] + Array("MQTT".utf8), "MQTT"),
            ([1, 2, 3, 4, 5, 6], "bytes 01020304"), ([1], "bytes 01"),
        ] {
            #expect(!ForeignProtocol.isHTTP(bytes) && !ForeignProtocol.isHTTP2(bytes))
            #expect(ForeignProtocol.name(bytes) == name)
        }
        #expect(ForeignProtocol.isHTTP2(Array("PRI * HTTP/2.0\r\n\r\n".utf8)))
        #expect(!ForeignProtocol.isHTTP(Array("PRI * HTTP/2.0\r\n\r\n".utf8)))
    }

    @Test("Every beginning of a first line is undecided until one more byte tells the protocol")
    func pieces() {
        for line in ["GET /", "PRI * HTTP/2.0", "SSH-", "<stream", "\r\nget / HTTP/1."] {
            let bytes = Array(line.utf8)
            for count in 0..<bytes.count - 1 { #expect(ForeignProtocol.isUndecided(Array(bytes.prefix(count)))) }
            #expect(!ForeignProtocol.isUndecided(bytes))
        }
        #expect(!ForeignProtocol.isUndecided([0x16]) && !ForeignProtocol.isUndecided([1]))
        #expect(!ForeignProtocol.isUndecided([UInt8](repeating: UInt8(ascii: "A"), count: 65)))
        // A client cannot fill the memory.
        #expect(!ForeignProtocol.isUndecided([UInt8](repeating: 0x0D, count: 8_192)))
    }

    @Test("Spellings of one address are one host")
    func addresses() {
        #expect(SurveyLog.Endpoint("2001:DB8:0:0::1", 443) == SurveyLog.Endpoint("2001:db8::1", 443))
        #expect(SurveyLog.Endpoint("2001:db8::1", 443).name == "2001:db8::1")
    }
}
