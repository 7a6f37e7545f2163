internal import CCurl
internal import COpenSSL

/// The libcurl of this process. Foundation uses the same one.
enum CurlLibrary {
    /// The reason why this libcurl cannot run pinned transfers; `nil` if it can.
    static let refusal: SessionError? = {
        guard curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK, let info = pintle_curl_version() else {
            return SessionError(.unsuitableLibrary, "libcurl cannot be set up")
        }
        // The first version with CURLOPT_PREREQFUNCTION.
        guard info.pointee.version_num >= 0x07_50_00 else {
            return SessionError(
                .unsuitableLibrary, "libcurl \(version) cannot be asked to wait before it sends",
                hint: "7.80 or newer is needed")
        }
        // The verdict reads OpenSSL's structures. So libcurl must use OpenSSL, and the same version that this module is
        // linked with.
        let tls = info.pointee.ssl_version.map { String(cString: $0) } ?? "no TLS"
        let own = String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
        guard tls == "OpenSSL/\(own)" else {
            return SessionError(
                .unsuitableLibrary, "libcurl \(version) is built on \(tls), and this program on OpenSSL/\(own)",
                hint: "install the OpenSSL flavour: apt-get install libcurl4")
        }
        return nil
    }()

    /// A Boolean value that indicates whether this libcurl repeats an HTTP/2 request if the server ends the connection
    /// with close_notify and without GOAWAY.
    static let repeatsAfterCloseNotify =
        pintle_curl_version().map {
            (0x08_00_00..<0x08_07_00).contains($0.pointee.version_num)
        } ?? true

    /// A Boolean value that indicates whether libcurl copies what comes over HTTP/2 into the buffers of all transfers
    /// of the connection, whichever transfer it reads for. Versions before 8.1 do.
    static let copiesStreams = pintle_curl_version().map { $0.pointee.version_num < 0x08_01_00 } ?? true

    /// A Boolean value that indicates whether this libcurl writes to handles that were freed, if nghttp2 still had
    /// their requests in its queue: behind the server's limit of streams, or behind a full send buffer. Versions before
    /// 8.6 do.
    static let remembersHandles = pintle_curl_version().map { $0.pointee.version_num < 0x08_06_00 } ?? true

    static let version = pintle_curl_version().map { String(cString: $0.pointee.version) } ?? "unknown"
}

/// A `curl_slist` that owns copies of some lines. Several transfers may use it at a time.
///
/// `@unchecked`: the list does not change after `init`, and libcurl only reads it.
final class StringList: @unchecked Sendable {
    static let empty = StringList([])

    let pointer: UnsafeMutablePointer<curl_slist>?
    /// The bytes of all lines with their line ends.
    let size: Int

    /// - Parameter last: A line in bytes, which need not be UTF-8.
    init(_ lines: [String], _ last: [UInt8]? = nil) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else { continue }
            list = longer
        }
        if let last { list = (last + [0]).withUnsafeBytes { curl_slist_append(list, $0.baseAddress) } ?? list }
        pointer = list
        size = lines.reduce(last.map { $0.count + 2 } ?? 0) { $0 + $1.utf8.count + 2 }
    }

    deinit {
        curl_slist_free_all(pointer)
    }
}
