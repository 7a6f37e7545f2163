internal import CCurl

/// A `curl_slist` of header fields.
final class FieldList {
    private(set) var pointer: UnsafeMutablePointer<curl_slist>?

    init(_ request: TransferRequest) {
        for field in request.fields {
            // The semicolon is how libcurl is told of a field without a value.
            append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        // Servers that do not know it make every upload wait a second.
        if request.hasContent { append("Expect:") }
    }

    deinit {
        curl_slist_free_all(pointer)
    }

    private func append(_ line: String) {
        guard let longer = curl_slist_append(pointer, line) else { return }
        pointer = longer
    }
}
