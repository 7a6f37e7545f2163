internal import CCurl

/// A `curl_slist` that owns copies of some lines.
final class StringList {
    private(set) var pointer: UnsafeMutablePointer<curl_slist>?

    init(_ lines: [String]) {
        for line in lines {
            guard let longer = curl_slist_append(pointer, line) else { continue }
            pointer = longer
        }
    }

    deinit {
        curl_slist_free_all(pointer)
    }
}
