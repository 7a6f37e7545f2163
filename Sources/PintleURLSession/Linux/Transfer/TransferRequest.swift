internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// A request in the form that libcurl needs. A redirect or a repetition makes another one.
struct TransferRequest: Sendable {
    let url: CurlURL
    var method = "GET"
    /// The header fields, in the form of CURLOPT_HTTPHEADER. Their names and values hold no line breaks.
    var fields = StringList.empty
    var content = RequestContent.none
    /// A Boolean value that indicates whether the request announces content. Methods that expect content announce even
    /// an empty one (RFC 9110 section 8.6).
    var hasContent: Bool { !content.isNone || method != "GET" && method != "HEAD" }
    /// A Boolean value that indicates whether the server may receive the request twice without another effect (RFC 9110
    /// section 9.2.2).
    var isIdempotent: Bool { Self.idempotent.contains(method) }
    private static let idempotent: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
    /// The proxy. libcurl gets it in every case, so that it does not read the environment itself.
    var proxy = ProxyConfiguration.none
    /// The time-out in seconds without a byte in either direction.
    var idleTimeout = 60.0
    /// The system uptime in seconds at which the transfer times out in any case.
    var deadline = Double.infinity
    /// The priority from 0 to 1. Of the transfers that wait for the same server, those of the highest priority start
    /// first.
    var priority: Float = 0.5
}
