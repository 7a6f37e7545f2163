internal import CCurl
internal import Foundation
internal import Pintle

extension Transfer {
    /// Returns the failure that a result of libcurl stands for.
    func failure(_ result: CURLcode) -> TransferFailure {
        if attempt.gateFailure == .superseded || attempt.judge?.isSuperseded == true { return .superseded }
        if let rejection = attempt.judge?.rejection { return .rejected(rejection) }
        if attempt.gateFailure != nil || attempt.judge?.lacksVerdict == true {
            return .refused(
                SessionRefusal(
                    .notJudged, "the connection to \(request.url.endpoint) has no live verdict; nothing was sent",
                    hint: "please report this, with the versions of pintle, libcurl and OpenSSL"))
        }
        if result == CURLE_OPERATION_TIMEDOUT { return .timedOut }
        if let fault = attempt.tunnelFault { return .library(code: CURLE_RECV_ERROR.rawValue, text: fault) }
        if attempt.judge?.lacksBudget == true {
            return .library(
                code: CURLE_SSL_CONNECT_ERROR.rawValue,
                text: "out of memory: OpenSSL could not set up what judges the server and limits what it reads")
        }
        if attempt.judge?.hasExceededBudget == true {
            return .library(
                code: CURLE_SSL_CONNECT_ERROR.rawValue,
                text:
                    "the server sent more than \(options.readLimits.handshake >> 10) KiB without ending the TLS handshake"
            )
        }
        if let fault = attempt.headFault { return .library(code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: fault) }
        if let fault = attempt.decodingFault {
            return .library(code: CURLE_BAD_CONTENT_ENCODING.rawValue, text: fault)
        }
        // libcurl keeps 64 MiB of a paused transfer. It reports more as 27 (7.88) or 100 (8.6 and newer).
        if attempt.isCoded, [27, 100].contains(result.rawValue) {
            return .library(
                code: CURLE_BAD_CONTENT_ENCODING.rawValue,
                text: "the content of the response expands to more than 64 MiB at once")
        }
        // libcurl reports a folded line that follows no field as CURLE_BAD_FUNCTION_ARGUMENT.
        if result == CURLE_BAD_FUNCTION_ARGUMENT, attempt.headLines > 0, !attempt.hasHead {
            return .library(
                code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "a line in the head of the response is no field")
        }
        // libcurl reports a line of more than 100 kB as CURLE_OUT_OF_MEMORY.
        if result == CURLE_OUT_OF_MEMORY, !attempt.hasHead {
            return .library(
                code: CURLE_WEIRD_SERVER_REPLY.rawValue, text: "a line in the head of the response has no end")
        }
        let text = errorText.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        if let judge = attempt.judge, judge.hasUnreadableCertificates {
            let failure = PathFailure(.malformedCertificate, text: text)
            generation.tell(TrustEvaluation(of: request.url.endpoint, unreadable: failure), at: Date())
            return .rejected(.invalidPath(failure))
        }
        return .library(code: result.rawValue, text: text)
    }
}
