internal import CCurl

/// A `curl_slist`: copies of some lines, in libcurl's form.
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

extension TransferRequest {
    /// The header fields as CURLOPT_HTTPHEADER wants them.
    var fieldLines: [String] {
        var lines = fields.map { field in
            let value = field.value.trimmingBlanks
            // The semicolon is how libcurl is told of a field without a value: it would leave it out.
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
