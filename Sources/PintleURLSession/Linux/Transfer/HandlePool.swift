internal import CCurl

/// Easy handles that have finished a transfer, for further transfers. A new one costs more than all options of a
/// request.
///
/// A handle that comes from here has no option and no result of an earlier transfer: `curl_easy_reset` removes them.
/// Connections belong to the multi handle, not to easy handles. Use it only on the transport's thread.
struct HandlePool {
    /// The number of idle handles that are always kept.
    private static let reserve = 4

    private var idle: [UnsafeMutableRawPointer] = []

    /// Returns a handle without any option, or `nil` if there is no memory.
    mutating func take() -> UnsafeMutableRawPointer? { idle.popLast() ?? curl_easy_init() }

    /// Keeps a handle that is not in use, or frees it if there are enough.
    ///
    /// - Parameter running: The number of handles in use. At most as many idle ones are kept beyond the reserve.
    mutating func put(_ handle: UnsafeMutableRawPointer, running: Int) {
        curl_easy_reset(handle)
        idle.append(handle)
        while idle.count > max(running, Self.reserve), let last = idle.popLast() { curl_easy_cleanup(last) }
    }

    mutating func removeAll() {
        for handle in idle { curl_easy_cleanup(handle) }
        idle = []
    }
}
