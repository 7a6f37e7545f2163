internal import CCurl
internal import Pintle

/// The reason why the gate lets a request not pass over the connection that libcurl has found or made.
enum GateError: Error {
    case noReceipt, receiptOver, superseded
    /// The connection has no TLS yet, because another transfer is still making it. libcurl 7.88 uses such a connection
    /// if an older one to the same server speaks HTTP/2.
    case unfinished
    /// The connection is unfit for this request, which was not sent over it.
    case unfit
    /// libcurl still keeps handles for the connection; see ``AbandonedHandle``. Nothing was sent.
    case full
    /// The server has sent content over the new connection before it got a request.
    case early
    /// libcurl wanted to send the request again, although the server may have received it.
    case repeated
    /// The server seems not to have processed the request, and libcurl wanted to send it again.
    case refused
    /// libcurl has met an error with another connection. Its text would hide one that ``Transfer/checkFrames()`` looks
    /// for. Nothing was sent.
    case earlierError
}

/// The facts about a transfer that libcurl has ended. They determine whether the response is complete.
struct TransferEnd {
    /// The first reason why a callback ended a transfer.
    enum Cause: Equatable {
        /// The gate did not let the request pass.
        case gate(GateError)
        /// The proxy opened no tunnel.
        case tunnel(String)
        /// The content of the request could not be read to its end.
        case upload
        /// The stream or file has more content than the request has announced.
        case excess
        /// The head of the response, or its trailers, are refused.
        case head(String)
        /// The content cannot be decoded within the limits.
        case coding(String)
        /// libcurl could not read what came over the connection (HTTP/2).
        case frames
        /// A part of the content was lost, so the rest must not pass for the complete content.
        case loss(CURLcode)
    }

    enum Stage: Equatable {
        /// No part of the request was sent over the last connection.
        case unsent
        /// The head of the response is not complete.
        case sent
        case answered(Content)
    }

    enum Content {
        /// As long as announced.
        case whole
        /// Another length than announced, over HTTP/2. Over HTTP/1, libcurl compares the lengths.
        case partial
        /// Content without an announced length has ended as the protocol demands.
        case ended
        /// The connection was cut, whose end would be the end of the content (RFC 9112 section 9.8).
        case cut
    }

    let result: CURLcode
    /// libcurl's own message; `nil` if there is none.
    var text: String?
    var stage = Stage.unsent
    var cause: Cause?
    /// The reason why the handshake of the last connection for this transfer failed, or why the server ended the
    /// connection because of the client's certificate.
    var handshake: HandshakeJudge.Cause?
    let endpoint: ServerEndpoint
    var method = "GET"
    var isIdempotent = true
    var hasContent = false
    /// A Boolean value that indicates whether the server provably has not processed the request.
    var isUnprocessed = false
    /// The number of times that the request was sent again after a refusal.
    var refusals = 0
    /// The limit in bytes for a handshake.
    var handshakeLimit = 0

    /// The reason why the response is not complete; `nil` if it is.
    var error: TransferError? {
        switch cause {
        case .gate(.superseded): .superseded
        case .gate(.repeated): lostResponse
        case .gate(.refused): refusal ?? .library(CURLE_RECV_ERROR, "\(endpoint) has refused the request")
        case .gate(.early):
            .library(CURLE_WEIRD_SERVER_REPLY, "\(endpoint) sent a response before the request, which was not sent")
        case .gate: notJudged
        case .tunnel(let text): .library(CURLE_RECV_ERROR, text)
        case .upload:
            .refused(
                SessionError(
                    .invalidRequest, "the content to upload cannot be read to its end; has it become shorter?"))
        case .excess:
            .refused(
                SessionError(
                    .invalidRequest,
                    "the content to upload is longer than the length that the request announced",
                    hint: "announce the length of a whole stream, or none; do not change a file while it is sent"))
        case .head(let text): .library(CURLE_WEIRD_SERVER_REPLY, text + (stage == .sent ? advice : ""))
        case .coding(let text): .library(CURLE_BAD_CONTENT_ENCODING, text)
        case .frames: .library(CURLE_WEIRD_SERVER_REPLY, Self.brokenFrames + (stage == .sent ? advice : ""))
        case .loss(let code): library(code)
        case nil: handshake.flatMap(error) ?? refusal ?? errorOfResult
        }
    }

    private func error(of cause: HandshakeJudge.Cause) -> TransferError? {
        switch cause {
        // With TLS 1.3, the server may refuse the client after the request was sent.
        case .superseded: return stage == .sent && !isIdempotent ? lostResponse : .superseded
        case .rejected(let rejection): return .rejected(rejection)
        case .client(let error): return .refused(error)
        case .notJudged: return notJudged
        case .outOfMemory:
            return .library(
                CURLE_SSL_CONNECT_ERROR,
                "out of memory: OpenSSL could not set up what judges the server and limits what it reads")
        case .tooLong:
            return .library(
                CURLE_SSL_CONNECT_ERROR,
                "the server sent more than \(handshakeLimit >> 10) KiB without ending the TLS handshake")
        case .foreignProtocol(let name):
            guard result == CURLE_SSL_CONNECT_ERROR else { return nil }
            return .library(result, "\(endpoint) answered in \(name) instead of TLS")
        case .unreadableCertificates:
            guard result != CURLE_OPERATION_TIMEDOUT else { return .timedOut }
            return .rejected(.invalidPath(PathFailure(.malformedCertificate, text: message(of: result))))
        }
    }

    private var errorOfResult: TransferError? {
        switch (stage, result) {
        case (.answered(.whole), CURLE_OK), (.answered(.ended), CURLE_OK): nil
        // A server may refuse the rest of the request's content (RFC 9113 section 8.1), or hang up.
        case (.answered(.whole), CURLE_HTTP2_STREAM) where hasContent: nil
        case (.answered(.whole), CURLE_SEND_ERROR) where hasContent: nil
        case (.answered, CURLE_OK): library(CURLE_PARTIAL_FILE)
        case (_, CURLE_OPERATION_TIMEDOUT): .timedOut
        case (.sent, let result) where !isIdempotent && Self.endOfConnection.contains(result): lostResponse
        // libcurl treats a connection that ends within a head as a complete response.
        case (_, CURLE_OK): library(CURLE_GOT_NOTHING)
        // libcurl reports a folded line that follows no field as CURLE_BAD_FUNCTION_ARGUMENT.
        case (.sent, CURLE_BAD_FUNCTION_ARGUMENT):
            .library(CURLE_WEIRD_SERVER_REPLY, "a line in the head of the response is no field")
        // libcurl reports a line of more than 100 kB as CURLE_OUT_OF_MEMORY, since 8.6 as CURLE_TOO_LARGE (100).
        // The line may be a proxy's.
        case (.sent, CURLE_OUT_OF_MEMORY), (.unsent, CURLE_OUT_OF_MEMORY), (.sent, CURLcode(rawValue: 100)):
            .library(CURLE_WEIRD_SERVER_REPLY, "a line in the head of the response has no end")
        // libcurl 8 checks transfer codings itself, and reports a wrong one as CURLE_BAD_CONTENT_ENCODING.
        case (.sent, CURLE_BAD_CONTENT_ENCODING) where text?.contains("Transfer-Encoding") == true:
            library(CURLE_WEIRD_SERVER_REPLY)
        default: library(result)
        }
    }

    /// The results that can mean that the connection ended after the server had received the request.
    private static let endOfConnection: [CURLcode] = [
        CURLE_OK, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND,
        CURLE_HTTP2, CURLE_HTTP2_STREAM,
        // libcurl wanted to repeat the request, but found no address for another connection.
        CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
    ]

    private static let brokenFrames =
        "the server broke the rules of HTTP/2, or sent a response whose head is longer than 128 kB"

    private var lostResponse: TransferError {
        .library(
            CURLE_RECV_ERROR,
            "\(endpoint) ended the connection or refused the request before the whole response" + advice)
    }

    private var refusal: TransferError? {
        isUnprocessed
            ? .unprocessed(
                "\(endpoint) has refused the \(method) without processing it; try again later", refusals: refusals)
            : nil
    }

    private var advice: String {
        isIdempotent
            ? "" : ", so the server may have performed the \(method); find out before you send it again"
    }

    private var notJudged: TransferError {
        .refused(
            SessionError(
                .notJudged, "the connection to \(endpoint) has no live verdict; nothing was sent",
                hint: "please report this, with the versions of pintle, libcurl and OpenSSL"))
    }

    private func library(_ code: CURLcode) -> TransferError { .library(code, message(of: code)) }

    private func message(of code: CURLcode) -> String { text ?? String(cString: curl_easy_strerror(code)) }
}

extension TransferError {
    fileprivate static func library(_ code: CURLcode, _ text: String) -> TransferError {
        .library(code: code.rawValue, text: text)
    }
}
