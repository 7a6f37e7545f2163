internal import Pintle

/// Command lines of curl, or a configuration file for it.
struct CurlImport {
    private let files: ForeignFolder
    private var draft = ImportDraft()

    static func read(_ bytes: [UInt8], files: ForeignFolder) throws(ToolError) -> ImportDraft {
        let lines = try ShellWords.lines(bytes)
        var reader = CurlImport(files: files)
        for words in lines {
            guard let command = words.first else { continue }
            guard command.text == "curl" else {
                throw .unusable(
                    "unknown-command", "\"\(command.text.prefix(40))\" is not curl", at: command.place,
                    hint: "one command a line: curl --pinnedpubkey 'sha256//...' https://HOST/")
            }
            try reader.read(command.place, words.dropFirst())
        }
        guard !reader.draft.rules.isEmpty else {
            throw .unusable("nothing-pinned", "no curl command", at: nil)
        }
        return reader.draft
    }

    /// Options that do not affect which servers curl trusts.
    private static let switches: Set<String> = [
        "-s", "--silent", "-S", "--show-error", "-f", "--fail", "-v", "--verbose", "-i", "--include", "-g",
        "--globoff", "-O", "--remote-name", "-I", "--head", "--compressed", "--http1.1", "--http2", "--fail-with-body",
    ]
    private static let valued: Set<String> = [
        "-o", "--output", "-X", "--request", "-H", "--header", "-A", "--user-agent", "-m", "--max-time",
        "--connect-timeout", "-d", "--data", "-w", "--write-out", "-e", "--referer", "--retry", "-T", "--upload-file",
    ]

    private mutating func read(_ start: TextPlace, _ words: ArraySlice<ShellWords.Word>) throws(ToolError) {
        var rest = words
        var urls: [ShellWords.Word] = []
        var pins: [PublicKeyPin]?
        var anchors = TrustAnchors.system
        func value(of option: ShellWords.Word, _ rest: inout ArraySlice<ShellWords.Word>) throws(ToolError)
            -> ShellWords.Word
        {
            guard let value = rest.popFirst() else {
                throw .unusable("unexpected-end", "\(option.text) has no value", at: option.place)
            }
            return value
        }
        while let word = rest.popFirst() {
            switch word.text {
            case "--pinnedpubkey":
                // The last value counts.
                pins = try keys(value(of: word, &rest))
            case "--cacert":
                let file = try value(of: word, &rest)
                guard let bytes = files.read(file.text) else {
                    throw .unusable(
                        "unreadable-file", "\(file.text) is not there", at: file.place,
                        hint: "name the folder it is relative to: --files FOLDER")
                }
                anchors = .only(try ForeignValues.certificates(bytes, name: file.text, at: file.place))
            case "--url": urls.append(try value(of: word, &rest))
            case "-k", "--insecure":
                throw .unusable(
                    "not-expressible", "validation is switched off, which no policy says", at: word.place,
                    hint: "take \(word.text) out; a private root is named by --cacert")
            case let text where Self.switches.contains(text): break
            case let text where Self.valued.contains(text): _ = try value(of: word, &rest)
            case let text where text.hasPrefix("-") && Self.isCombined(text): break
            case let text where text.hasPrefix("-"):
                throw .unusable(
                    "unknown-option", "the option \(text.prefix(40)) is not known", at: word.place, hint: "take it out")
            default: urls.append(word)
            }
        }
        guard let url = urls.first, urls.count == 1 else {
            throw .unusable(
                "unexpected-value", urls.isEmpty ? "no URL" : "more than one URL",
                at: urls.dropFirst().first?.place ?? start)
        }
        try add(url, pins ?? [], anchors)
    }

    /// Reads switches in one word: `-sSf`.
    private static func isCombined(_ text: String) -> Bool {
        text.count > 2 && !text.hasPrefix("--") && text.dropFirst().allSatisfy { switches.contains("-\($0)") }
    }

    private func keys(_ value: ShellWords.Word) throws(ToolError) -> [PublicKeyPin] {
        var keys: [PublicKeyPin] = []
        for part in value.text.split(separator: ";", omittingEmptySubsequences: false) {
            guard part.hasPrefix("sha256//") else {
                throw .unusable(
                    "invalid-pin", "\"\(part.prefix(60))\" is not sha256// and a hash", at: value.place,
                    hint: "of a key in a file: pintle pin FILE --as curl --host HOST")
            }
            keys.append(try ForeignValues.key(String(part.dropFirst("sha256//".count)), at: value.place))
        }
        return keys
    }

    private mutating func add(
        _ url: ShellWords.Word, _ pins: [PublicKeyPin], _ anchors: TrustAnchors
    ) throws(ToolError) {
        guard let endpoint = ServerEndpoint(httpsURL: url.text) else {
            throw .unusable("invalid-url", "\"\(url.text.prefix(80))\" is not an https URL", at: url.place)
        }
        var rule = PinnedHost(unchecked: endpoint.host)
        rule.port = endpoint.port
        rule.pins = pins.map { Pin(.publicKey($0), at: .leaf) }
        rule.anchors = anchors
        draft.add(rule, at: url.place)
    }
}
