internal import Foundation
internal import Pintle
internal import PintleOpenSSL

/// A request, ready for libcurl. A redirect or a repetition makes another one.
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
    /// Bytes of content; `nil` for a stream of unknown length.
    var announcedLength: Int64? { body.map(\.size) ?? 0 }
    /// `nil` for plain http without a setting: libcurl reads the environment itself there.
    var proxy: ProxyConfiguration?
    /// Seconds without a byte in either direction.
    var idleTimeout = 60.0
    /// Uptime in seconds at which it ends whatever happens.
    var deadline = Double.infinity
    /// From 0 to 1. Of the transfers that wait for the same server, those of the highest priority start first.
    var priority: Float = 0.5
}

extension TransferRequest {
    /// The header fields as CURLOPT_HTTPHEADER wants them.
    var fieldLines: [String] {
        var lines = fields.map { field in
            let value = field.value.trimmingBlanks
            // libcurl leaves a field without a value out, unless a semicolon follows the name.
            return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
        }
        // Servers that do not know it make every upload wait a second.
        if hasContent { lines.append("Expect:") }
        return lines
    }
}

extension String {
    /// Without what surrounds a field's value and is no part of it (RFC 9110 section 5.5).
    fileprivate var trimmingBlanks: Substring {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
