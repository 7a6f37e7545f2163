internal import CCurl
internal import Foundation

/// Requests that the server provably has not processed (RFC 9113 sections 6.8 and 8.7). They may be sent again,
/// whatever their method.
extension Transfer {
    /// The number of times that a request is sent again after the server has refused it.
    static let refusalLimit = 5

    /// A Boolean value that indicates whether the server provably has not processed the request in this attempt.
    ///
    /// Either the request's stream lies above the last one that GOAWAY on its connection announced. That outranks a
    /// head, which libcurl 7.88 may have dropped: the server itself says that it did not process the request. Or the
    /// server has refused this stream, and libcurl has seen no head before. libcurl's note of a refusal counts only in
    /// the first attempt of a handle, because a later attempt may merely have died.
    var isUnprocessed: Bool {
        guard let connection = state.connection, connection.isStream, !connection.isBroken, !state.head.hasBegun,
            let judge = connection.judge, let stream = state.stream
        else { return false }
        return stream > judge.lastStream || state.isRefused
    }

    /// A Boolean value that indicates whether the server seems to have refused the request, with or without proof.
    var seemsRefused: Bool {
        isUnprocessed || state.cause == .gate(.refused) || state.cause == .gate(.repeated) && state.isStream
    }

    /// A Boolean value that indicates whether the connection has answered, or has been silent for so long that the
    /// server's limit of streams has probably come.
    var hasSettledConnection: Bool {
        guard let connection = state.connection else { return false }
        return !connection.isStream || connection.judge?.hasAnswered != false
            || ProcessInfo.processInfo.systemUptime - connection.start > Self.longestSettling
    }

    private static let longestSettling = 1.0

    /// A Boolean value that indicates whether the request has a response, or has been silent for so long that it
    /// probably waits for something else than the network.
    var isSettled: Bool {
        hasHead
            || ProcessInfo.processInfo.systemUptime - (state.connection?.start ?? lastActivity) > Self.longestSettling
    }

    /// A Boolean value that indicates whether the request fails if the server refuses it once more.
    var isLastAttempt: Bool { refusals >= Self.refusalLimit }

    /// A Boolean value that indicates whether the connection has answered and has refused nothing.
    var hasReliableConnection: Bool {
        guard let connection = state.connection else { return false }
        guard connection.isStream, let judge = connection.judge else { return true }
        return judge.hasAnswered && !judge.hasRefused && judge.lastStream == .max
    }

    /// Makes all transfers of the connection watch for refused requests, because GOAWAY is reported for any of them.
    ///
    /// libcurl needs 15,000 instructions for the text of a request. So connections that have carried only requests such
    /// as GET and HEAD do not watch: these requests are sent again without proof.
    func watchConnection() {
        guard let judge = state.connection?.judge, !judge.watchesRefusals else { return }
        judge.watchesRefusals = true
        for transfer in work?.runningTransfers() ?? [] where transfer.state.connection?.judge === judge {
            transfer.watchRefusals()
        }
    }

    /// Makes libcurl report which requests the server has not processed. This is called only for HTTP/2, so no text
    /// comes about proxies or HTTP/1.1.
    func watchRefusals() {
        pintle_curl_set_debug(
            handle,
            { _, kind, bytes, count, at in
                guard kind == CURLINFO_TEXT, let line = VerboseLine(UnsafeRawBufferPointer(start: bytes, count: count))
                else { return 0 }
                Transfer.at(at)?.note(line)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        set(CURLOPT_VERBOSE, 1)
    }

    private func note(_ line: VerboseLine) {
        switch line {
        case .opened(let stream): state.stream = stream
        case .goAway(let error, let last):
            // libcurl reads for any transfer of the connection, and since 8.1 it also reads kept connections while it
            // looks for one. So the transfer's own connection may be another one, to another server.
            guard let ssl = pintle_curl_get_ssl(handle), let judge = HandshakeJudge.installed(on: OpaquePointer(ssl))
            else { return }
            judge.lastStream = min(judge.lastStream, last)
            if error == Self.codeForHTTP1 { work?.noteNeedForHTTP1(of: judge.endpoint) }
        case .refused(let stream):
            if state.attempts == 1, stream == state.stream { state.isRefused = true }
        case .downgrading: work?.noteNeedForHTTP1(of: request.url.endpoint)
        case .retrying:
            // Before 8.1, libcurl drops the head of a response that a refusal follows at once, so this is no proof.
            if state.attempts == 1, !CurlLibrary.copiesStreams { state.isRefused = true }
        }
    }

    /// The error code HTTP_1_1_REQUIRED (RFC 9113 section 7).
    private static let codeForHTTP1 = 13
}
