internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// One request, ready for libcurl: redirects and repetitions are other ones.
struct TransferRequest: Sendable {
    enum Body: Sendable {
        case data(Data)
        /// A file, read while it is sent.
        case file(path: String, size: Int64)
        /// A stream, of a length that may not be known.
        case stream(BodyStream, size: Int64?)

        var size: Int64? {
            switch self {
            case .data(let data): Int64(data.count)
            case .file(_, let size): size
            case .stream(_, let size): size
            }
        }
    }

    let url: CurlURL
    var method = "GET"
    /// In order; names and values are known to hold no line break.
    var fields: [(name: String, value: String)] = []
    var body: Body?
    /// Whether there is content, if only of no length: where a method foresees content, even none at all
    /// is announced (RFC 9110 section 8.6).
    var hasContent: Bool { body != nil || method != "GET" && method != "HEAD" }
    /// Bytes of content; `nil` where nobody knows before its end.
    var announcedLength: Int64? { body.map(\.size) ?? 0 }
    /// `nil` for plain http without a setting: libcurl reads the environment itself there.
    var proxy: ProxyConfiguration?
    /// Seconds without a byte in either direction.
    var idleTimeout = 60.0
    /// Uptime in seconds at which it ends whatever happens.
    var deadline = Double.infinity
    /// Who goes first of those that wait for the same server; 0 to 1.
    var priority: Float = 0.5
}

/// A response up to its content, as it came.
struct ResponseHead: Sendable {
    var status = 0
    /// `HTTP/1.1`
    var version = ""
    var fields: [(name: String, value: String)] = []
    /// Of the connection that it came over; `nil` for plain http.
    var receipt: TrustReceipt?

    /// The values of a field, whose name is given in lower case.
    func values(of name: String) -> [String] {
        fields.compactMap { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name ? $0.value : nil }
    }

    /// What libcurl goes by itself: a line after the first of these it has read as a field that is none.
    private static let framing: Set<String> = [
        "connection", "content-encoding", "content-length", "transfer-encoding",
    ]

    /// Goes on with the last field, with a blank for the line's end, as RFC 9112 section 5.2 asks for.
    ///
    /// - Returns: false for a field that has to be one line.
    mutating func unfold(_ value: String) -> Bool {
        guard let last = fields.indices.last, !Self.framing.contains(fields[last].name.lowercased()) else {
            return false
        }
        if !value.isEmpty { fields[last].value += (fields[last].value.isEmpty ? "" : " ") + value }
        return true
    }

    /// Fields of one name are one list (RFC 9110 section 5.3). Foundation splits `Set-Cookie` again.
    var joinedFields: [String: String] {
        var joined: [String: String] = [:]
        var spelling: [String: String] = [:]
        for field in fields {
            let name = spelling[field.name.lowercased()] ?? field.name
            spelling[field.name.lowercased()] = name
            joined[name] = joined[name].map { "\($0), \(field.value)" } ?? field.value
        }
        return joined
    }
}

/// Why a transfer ended without a complete response.
enum TransferFailure: Error {
    case rejected(TrustRejection)
    case refused(SessionRefusal)
    case timedOut
    case cancelled
    /// Another policy was put in force before anything was sent: it has to decide, from the start.
    case superseded
    /// The content has to be sent, once more perhaps, and nobody has a stream for it.
    case noBodyStream
    /// A cache was to answer, and has nothing that may be used.
    case notCached
    /// libcurl's code and words.
    case library(code: UInt32, text: String)
}

/// Reasons to let nothing more arrive for a while.
struct TransferHold: OptionSet, Sendable {
    let rawValue: UInt8

    /// A delegate has been asked what to do.
    static let answer = TransferHold(rawValue: 1)
    /// A delegate has more than enough to work off.
    static let backlog = TransferHold(rawValue: 2)
    /// The task is suspended.
    static let suspended = TransferHold(rawValue: 4)
    /// What a delegate has been asked is which request follows, if any: beside `answer`.
    static let choice = TransferHold(rawValue: 8)
}

/// What a transfer tells, always on the transport's thread: whoever listens must not wait there.
protocol TransferEvents: AnyObject, Sendable {
    func transfer(_ transfer: Transfer, didSend count: Int)
    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) -> TransferHold
    /// `nil` ends the transfer.
    func transfer(_ transfer: Transfer, didReceive data: Data) -> TransferHold?
    /// The last event, and exactly one.
    func transfer(_ transfer: Transfer, didComplete failure: TransferFailure?)
}
