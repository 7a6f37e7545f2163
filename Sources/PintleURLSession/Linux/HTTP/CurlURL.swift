internal import CCurl
internal import Foundation
internal import Pintle

/// A URL as libcurl parses it.
///
/// The policy is asked about this parse, and the transfer uses it too, so both mean the same host. Foundation and
/// libcurl disagree on `127.1`, `0x7f.1` and U+3002.
///
/// `@unchecked`: after `init` the handle is only read: by `curl_url_get`, which does not change it, and by libcurl,
/// which copies it when a transfer starts. The other properties are constant.
final class CurlURL: @unchecked Sendable {
    enum Scheme: String {
        case https, http
    }

    /// `CURLU *`
    let handle: OpaquePointer
    /// The text that `handle` was read from.
    let written: String
    let scheme: Scheme
    let endpoint: ServerEndpoint

    /// - Parameter resolvesDots: `true` to remove `.` and `..` from the path, as a redirect needs (RFC 3986 section
    ///   5.2.4). The path of the app's own URL is sent as written.
    init(_ text: String, resolvesDots: Bool = false) throws(SessionError) {
        guard text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }) else {
            throw SessionError(
                .invalidRequest, "the URL has characters that programs read differently from one another",
                hint: "write the host as A-labels (xn--) and percent-encode the rest")
        }
        guard let handle = curl_url() else { throw SessionError(.invalidRequest, "out of memory") }
        do throws(SessionError) {
            (scheme, endpoint) = try Self.read(text, flags: resolvesDots ? 0 : CURLU_PATH_AS_IS, into: handle)
        } catch {
            // Swift runs no deinit if an initializer throws before all properties are set.
            curl_url_cleanup(handle)
            throw error
        }
        self.handle = handle
        written = text
    }

    deinit {
        curl_url_cleanup(handle)
    }

    /// Returns `true` if another URL has the same scheme, host and port (RFC 6454).
    func hasSameOrigin(as other: CurlURL) -> Bool {
        scheme == other.scheme && endpoint == other.endpoint
    }

    /// Returns `true` if Foundation parses the same host from `url`. Foundation's cookie storage uses its own parse.
    func isSameHost(as url: URL) -> Bool {
        url.host.flatMap { try? ServerName($0) } == endpoint.host
    }

    /// The path and query as they are sent.
    var target: String {
        let query = Self.part(CURLUPART_QUERY, of: handle).map { "?\($0)" } ?? ""
        return (Self.part(CURLUPART_PATH, of: handle) ?? "/") + query
    }

    /// The URL in the form that libcurl gives it.
    var text: String? { Self.part(CURLUPART_URL, of: handle) }

    private static func read(
        _ text: String, flags: CInt, into handle: OpaquePointer
    ) throws(SessionError) -> (Scheme, ServerEndpoint) {
        guard curl_url_set(handle, CURLUPART_URL, text, UInt32(flags)) == CURLUE_OK else {
            let scheme = text.prefix { $0 != ":" }.lowercased()
            if text.contains(":"), Scheme(rawValue: scheme) == nil { throw unsupported(scheme) }
            throw SessionError(.invalidRequest, "libcurl cannot read the URL")
        }
        let name = part(CURLUPART_SCHEME, of: handle)?.lowercased() ?? ""
        guard let scheme = Scheme(rawValue: name) else { throw unsupported(name) }
        // With one slash or with three, libcurl finds a host where other parsers find a path.
        let rest = text.utf8.dropFirst(name.utf8.count)
        guard rest.starts(with: "://".utf8), rest.dropFirst(3).first != UInt8(ascii: "/") else {
            throw SessionError(.invalidRequest, "the URL does not begin with \(name)://HOST")
        }
        for forbidden in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_ZONEID]
        where part(forbidden, of: handle) != nil {
            throw SessionError(
                .invalidRequest, "the URL carries a user name, a password or a zone",
                hint: "send credentials in the Authorization field")
        }
        guard let host = part(CURLUPART_HOST, of: handle),
            let port = part(CURLUPART_PORT, of: handle, flags: UInt32(CURLU_DEFAULT_PORT)).flatMap({ UInt16($0) }),
            port > 0
        else { throw SessionError(.invalidRequest, "the URL names no host and port") }
        let server: ServerName
        do {
            server = try ServerName(host)
        } catch {
            throw SessionError(.invalidRequest, "\(error)", hint: error.hint)
        }
        if let alias = AddressAlias(server) { throw SessionError(alias) }
        return (scheme, ServerEndpoint(host: server, port: port))
    }

    private static func unsupported(_ scheme: String) -> SessionError {
        let remedy: String? =
            switch scheme {
            case "ws", "wss": SessionError.webSocket.hint
            case "file": "read the file with FileManager or Data(contentsOf:)"
            default: nil
            }
        return SessionError(
            .unsupportedScheme, "a pinned session loads https and http, not \(scheme)", hint: remedy)
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer, flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
