internal import CCurl
internal import COpenSSL

/// The libcurl of this process, which is Foundation's too.
enum CurlLibrary {
    /// Why it cannot carry pinned transfers; `nil` where it can.
    static let refusal: SessionRefusal? = {
        guard curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK, let info = pintle_curl_version() else {
            return SessionRefusal(.unsuitableLibrary, "libcurl cannot be set up")
        }
        // CURLOPT_PREREQFUNCTION.
        guard info.pointee.version_num >= 0x07_50_00 else {
            return SessionRefusal(
                .unsuitableLibrary, "libcurl \(version) cannot be asked to wait before it sends",
                hint: "7.80 or newer is needed")
        }
        // The verdict is made on OpenSSL's structures, so it must be OpenSSL, and the one that is linked here.
        let tls = info.pointee.ssl_version.map { String(cString: $0) } ?? "no TLS"
        let own = String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
        guard tls == "OpenSSL/\(own)" else {
            return SessionRefusal(
                .unsuitableLibrary, "libcurl \(version) is built on \(tls), and this program on OpenSSL/\(own)",
                hint: "install the OpenSSL flavour: apt-get install libcurl4")
        }
        return nil
    }()

    static let version = pintle_curl_version().map { String(cString: $0.pointee.version) } ?? "unknown"
}
