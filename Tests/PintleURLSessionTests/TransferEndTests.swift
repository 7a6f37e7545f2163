import CCurl
import Pintle
import Testing

@testable import PintleURLSession

/// Every way in which a transfer can end, without a server.
@Suite("Pinned sessions: the ends of a transfer")
struct TransferEndTests {
    private static func end(
        _ result: CURLcode, _ stage: TransferEnd.Stage, text: String? = nil, cause: TransferEnd.Cause? = nil,
        handshake: HandshakeJudge.Cause? = nil, method: String = "GET"
    ) throws -> TransferEnd {
        TransferEnd(
            result: result, text: text, stage: stage, cause: cause, handshake: handshake,
            endpoint: ServerEndpoint(host: try ServerName("api.example.com"), port: 443), method: method,
            isIdempotent: method != "POST", hasContent: method != "GET", handshakeLimit: 64 << 10)
    }

    /// A failure in one line: libcurl's code and the text, or the name of the failure.
    private static func summary(_ failure: TransferError?) -> String {
        switch failure {
        case nil: "complete"
        case .rejected(let rejection): "rejected \(rejection.reason)"
        case .refused(let refusal): "refused \(refusal.code.rawValue)"
        case .timedOut: "timed out"
        case .superseded: "superseded"
        case .unprocessed(let text, _): "unprocessed \(text)"
        case .library(let code, let text): "\(code) \(text)"
        case .cancelled, .noBodyStream, .notCached: "unexpected"
        }
    }

    @Test(
        "libcurl's result and the stage of the transfer determine the failure",
        arguments: [
            (CURLE_OK, TransferEnd.Stage.answered(.whole), "GET", "complete"),
            (CURLE_OK, .answered(.ended), "GET", "complete"),
            (CURLE_OK, .answered(.partial), "GET", "18 Transferred a partial file"),
            (CURLE_OK, .answered(.cut), "GET", "18 Transferred a partial file"),
            (CURLE_OK, .sent, "GET", "52 Server returned nothing (no headers, no data)"),
            (CURLE_OK, .unsent, "GET", "52 Server returned nothing (no headers, no data)"),
            (CURLE_OK, .sent, "POST", lost), (CURLE_OK, .answered(.whole), "POST", "complete"),
            (CURLE_SEND_ERROR, .answered(.whole), "POST", "complete"),
            (CURLE_HTTP2_STREAM, .answered(.whole), "POST", "complete"),
            (CURLE_SEND_ERROR, .answered(.whole), "GET", "55 Failed sending data to the peer"),
            (CURLE_SEND_ERROR, .answered(.partial), "POST", "55 Failed sending data to the peer"),
            (CURLE_SEND_ERROR, .answered(.ended), "POST", "55 Failed sending data to the peer"),
            (CURLE_RECV_ERROR, .sent, "POST", lost), (CURLE_HTTP2, .sent, "POST", lost),
            (CURLE_COULDNT_RESOLVE_HOST, .sent, "POST", lost),
            (
                CURLE_COULDNT_RESOLVE_HOST, .unsent, "POST",
                "6 " + String(cString: curl_easy_strerror(CURLE_COULDNT_RESOLVE_HOST))
            ),
            (CURLE_RECV_ERROR, .sent, "GET", "56 Failure when receiving data from the peer"),
            (CURLE_OPERATION_TIMEDOUT, .sent, "POST", "timed out"),
            (CURLE_OPERATION_TIMEDOUT, .unsent, "GET", "timed out"),
            (CURLE_BAD_FUNCTION_ARGUMENT, .sent, "GET", "8 a line in the head of the response is no field"),
            (CURLE_OUT_OF_MEMORY, .sent, "GET", "8 a line in the head of the response has no end"),
            (CURLE_OUT_OF_MEMORY, .answered(.partial), "GET", "27 Out of memory"),
        ])
    func result(result: CURLcode, stage: TransferEnd.Stage, method: String, expected: String) throws {
        #expect(Self.summary(try Self.end(result, stage, method: method).error) == expected)
    }

    private static let lost =
        "56 api.example.com:443 ended the connection or refused the request before the whole response" + advice
    private static let advice = ", so the server may have performed the POST; find out before you send it again"

    @Test(
        "The first cause decides, whatever libcurl's result is",
        arguments: [
            (TransferEnd.Cause.gate(.superseded), "superseded"), (.gate(.noReceipt), "refused not-judged"),
            (.gate(.receiptOver), "refused not-judged"), (.gate(.unfit), "refused not-judged"),
            (.gate(.unfinished), "refused not-judged"), (.gate(.full), "refused not-judged"),
            (.gate(.early), "8 api.example.com:443 sent a response before the request, which was not sent"),
            (.gate(.refused), "56 api.example.com:443 has refused the request"), (.gate(.repeated), lost),
            (.tunnel("no"), "56 no"),
            (.upload, "refused invalid-request"), (.excess, "refused invalid-request"), (.head("no"), "8 no" + advice),
            (.coding("no"), "61 no"),
            (.loss(CURLE_WRITE_ERROR), "23 text"),
        ], [CURLE_OK, CURLE_WRITE_ERROR, CURLE_RECV_ERROR])
    func firstCause(row: (cause: TransferEnd.Cause, expected: String), result: CURLcode) throws {
        let end = try Self.end(
            result, .sent, text: "text", cause: row.cause, handshake: .outOfMemory, method: "POST")
        #expect(Self.summary(end.error) == row.expected)
    }

    @Test("Broken frames fail a whole response too, and before the response the server may have performed a POST")
    func frames() throws {
        let broken =
            "8 the server broke the rules of HTTP/2, or sent a response whose head is longer than 128 kB"
        for (stage, method) in [(TransferEnd.Stage.answered(.whole), "POST"), (.sent, "GET"), (.unsent, "POST")] {
            let end = try Self.end(CURLE_OK, stage, cause: .frames, method: method)
            #expect(Self.summary(end.error) == broken)
        }
        let end = try Self.end(CURLE_OK, .sent, cause: .frames, method: "POST")
        #expect(Self.summary(end.error).hasPrefix(broken + ", so the server may have performed the POST"))
    }

    @Test(
        "The cause of a failed handshake decides before the head of a response",
        arguments: [
            (HandshakeJudge.Cause.superseded, "superseded"), (.notJudged, "refused not-judged"),
            (.rejected(.invalidPath(PathFailure(.expired, text: "expired"))), "rejected invalid-path"),
            (
                .outOfMemory,
                "35 out of memory: OpenSSL could not set up what judges the server and limits what it reads"
            ),
            (.tooLong, "35 the server sent more than 64 KiB without ending the TLS handshake"),
            (.foreignProtocol("SSH"), "35 api.example.com:443 answered in SSH instead of TLS"),
            (.unreadableCertificates, "rejected invalid-path"),
        ])
    func handshake(cause: HandshakeJudge.Cause, expected: String) throws {
        #expect(Self.summary(try Self.end(CURLE_SSL_CONNECT_ERROR, .unsent, handshake: cause).error) == expected)
        let none = try Self.end(CURLE_SSL_CONNECT_ERROR, .unsent, text: "a TLS alert")
        #expect(Self.summary(none.error) == "35 a TLS alert")
    }

    @Test(
        "If the policy was replaced, only a request that was not sent, or may be repeated, is made again",
        arguments: [
            (TransferEnd.Stage.sent, "POST", lost), (.sent, "GET", "superseded"), (.unsent, "POST", "superseded"),
        ])
    func superseded(stage: TransferEnd.Stage, method: String, expected: String) throws {
        let end = try Self.end(CURLE_RECV_ERROR, stage, handshake: .superseded, method: method)
        #expect(Self.summary(end.error) == expected)
    }

    @Test("A time-out while a server in another protocol is silent, or its certificates are unreadable, is a time-out")
    func slowHandshake() throws {
        for cause in [HandshakeJudge.Cause.foreignProtocol("SSH"), .unreadableCertificates] {
            let end = try Self.end(CURLE_OPERATION_TIMEDOUT, .unsent, handshake: cause)
            #expect(Self.summary(end.error) == "timed out")
        }
    }

    @Test(
        "A wrong transfer coding that libcurl finds is a bad response, and bad content is not",
        arguments: [true, false])
    func coding(isHead: Bool) throws {
        let end = try Self.end(
            CURLE_BAD_CONTENT_ENCODING, isHead ? .sent : .answered(.ended), text: "unsupported Transfer-Encoding")
        #expect(Self.summary(end.error) == (isHead ? "8" : "61") + " unsupported Transfer-Encoding")
    }
}
