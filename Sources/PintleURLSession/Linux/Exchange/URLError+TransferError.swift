internal import CCurl
internal import Foundation
internal import FoundationNetworking
internal import Pintle

extension URLError {
    /// Creates the error that a task ends with. Its underlying error is the typed one.
    init(_ failure: TransferError, url: URL?) {
        switch failure {
        case .rejected(let rejection):
            // Apps look for these specific codes of Foundation, so keep them apart.
            let code: URLError.Code =
                switch rejection.pathFailure?.code {
                case .expired: .serverCertificateHasBadDate
                case .notYetValid: .serverCertificateNotYetValid
                case .untrustedRoot, .selfSigned: .serverCertificateHasUnknownRoot
                default: .serverCertificateUntrusted
                }
            self.init(code, rejection.errorText, url: url, underlying: rejection)
        case .refused(let error): self.init(error, url: url)
        case .timedOut: self.init(.timedOut, "the request timed out", url: url)
        case .cancelled: self.init(.cancelled, "cancelled", url: url)
        case .superseded:
            self.init(.secureConnectionFailed, "the policy changes faster than a connection is made", url: url)
        case .unprocessed(let text, _): self.init(.networkConnectionLost, text, url: url)
        case .noBodyStream:
            self.init(
                .requestBodyStreamExhausted,
                "the delegate has no stream to send; implement urlSession(_:task:needNewBodyStream:)", url: url)
        case .notCached:
            self.init(
                .resourceUnavailable, "the cache policy allows only a cached response, and a pinned session has none",
                url: url)
        case .library(let code, let text): self.init(Self.code(CURLcode(rawValue: code)), text, url: url)
        }
    }

    private static func code(_ code: CURLcode) -> URLError.Code {
        switch code {
        case CURLE_URL_MALFORMAT: .badURL
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotFindHost
        case CURLE_COULDNT_CONNECT: .cannotConnectToHost
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER: .secureConnectionFailed
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .networkConnectionLost
        // "Unsupported protocol" can only mean HTTP/0.9 here, which is libcurl's name for a response that is not HTTP.
        // Unsupported schemes were refused before.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: .badServerResponse
        case CURLE_BAD_CONTENT_ENCODING: .cannotDecodeContentData
        // Only a download refuses content, when its file cannot be written.
        case CURLE_WRITE_ERROR: .cannotWriteToFile
        default: .unknown
        }
    }
}
