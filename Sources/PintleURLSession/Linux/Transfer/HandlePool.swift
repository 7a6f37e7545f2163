internal import CCurl

/// Easy handles that have finished a transfer, for further transfers. A new one costs more than all options of a
/// request.
///
/// A handle that comes from here has no option but NOSIGNAL, and no result of an earlier transfer: `curl_easy_reset` removes them.
/// Connections belong to the multi handle, not to easy handles. Use it only on the transport's thread.
struct HandlePool {
    /// The limit of idle handles. Each needs some 6 KB: libcurl frees the buffers at the end of a transfer.
    private static let limit = 256

    private var idle: [UnsafeMutableRawPointer] = []

    /// Returns a handle without any option, or `nil` if there is no memory.
    mutating func take() -> UnsafeMutableRawPointer? { idle.popLast() ?? curl_easy_init() }

    /// Keeps a handle that is not in use, or frees it if there are enough.
    mutating func put(_ handle: UnsafeMutableRawPointer) {
        guard idle.count < Self.limit else { return curl_easy_cleanup(handle) }
        curl_easy_reset(handle)
        // Otherwise libcurl would change the signal handling of the process when it frees the handle.
        pintle_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        idle.append(handle)
    }

    mutating func removeAll() {
        for handle in idle { curl_easy_cleanup(handle) }
        idle = []
    }
}
