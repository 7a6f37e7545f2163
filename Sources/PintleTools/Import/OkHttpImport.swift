internal import Pintle

/// A reader of the literal calls `add("HOST", "sha256/...")` of a `CertificatePinner.Builder()`, in Kotlin or Java. Any
/// other code between the builder and its `build()` is an error: it may add pins, or add them in some builds only.
struct OkHttpImport {
    private let tokens: [CodeToken]
    private var patterns = OkHttpPatterns()
    private var problems: [ToolError] = []

    static func read(_ bytes: [UInt8]) throws(ToolError) -> ImportDraft {
        var reader = OkHttpImport(tokens: try CodeScanner.tokens(of: bytes))
        let builders = reader.tokens.indices.filter { reader.isBuilder(at: $0) }
        guard let start = builders.first else {
            throw .unusable(
                "nothing-pinned", "no CertificatePinner.Builder()", at: nil, hint: "give the file that has it")
        }
        if builders.count > 1 {
            throw .unusable(
                "ambiguous", "a second CertificatePinner.Builder(), and the clients that use each are not known",
                at: reader.tokens[builders[1]].place, hint: "give only one of them")
        }
        reader.readCalls(from: start + 5)
        if var error = reader.problems.first {
            error.others = Array(reader.problems.dropFirst().prefix(ValueLimits.problems - 1))
            throw error
        }
        return try reader.patterns.draft(at: reader.tokens[start].place)
    }

    /// `CertificatePinner.Builder()`
    private func isBuilder(at index: Int) -> Bool {
        guard index + 4 < tokens.count else { return false }
        return tokens[index].isIdentifier("CertificatePinner") && tokens[index + 1].isPunctuation(".")
            && tokens[index + 2].isIdentifier("Builder") && tokens[index + 3].isPunctuation("(")
            && tokens[index + 4].isPunctuation(")")
    }

    /// Reads `.add(...)` and `.apply { add(...) }` until `.build()`, and goes on after a call that cannot be read.
    private mutating func readCalls(from start: Int) {
        var index = start
        while index < tokens.count {
            switch tokens[index].kind {
            case .identifier("build"): return
            case .identifier("add") where tokens.indices.contains(index + 1) && tokens[index + 1].isPunctuation("("):
                let end = closingParenthesis(after: index + 1)
                do throws(ToolError) {
                    try add(tokens[index + 2..<end], at: tokens[index].place)
                } catch {
                    problems.append(error)
                }
                index = end + 1
            case .identifier("apply"), .identifier("this"), .punctuation("."), .punctuation("{"), .punctuation("}"),
                .punctuation(";"):
                index += 1
            default:
                problems.append(
                    .unusable(
                        "unknown-code", "\(tokens[index].text) where .add(...) or .build() is expected",
                        at: tokens[index].place,
                        hint: "chain the calls: CertificatePinner.Builder().add(\"HOST\", \"sha256/...\").build()"))
                return
            }
        }
        problems.append(
            .unusable(
                "unexpected-end", "the file ends before the .build() of the pinner", at: tokens.last?.place,
                hint: "give the whole chain"))
    }

    /// Returns the index of the parenthesis that closes one, or that of the end of the file.
    private func closingParenthesis(after opening: Int) -> Int {
        var depth = 0
        for index in opening..<tokens.count {
            if tokens[index].isPunctuation("(") { depth += 1 }
            if tokens[index].isPunctuation(")") { depth -= 1 }
            if depth == 0 { return index }
        }
        return tokens.count
    }

    /// Reads `"pattern", "sha256/...", ...`
    private mutating func add(_ arguments: ArraySlice<CodeToken>, at place: TextPlace) throws(ToolError) {
        var strings: [(text: String, place: TextPlace)] = []
        for (position, token) in arguments.enumerated() {
            if position % 2 == 1, token.isPunctuation(",") { continue }
            guard position % 2 == 0, case .string(let text) = token.kind else {
                throw .unusable(
                    "not-a-literal", "add(...) is not read because of \(token.text): only string literals are",
                    at: token.place,
                    hint: "write the host and each pin literally, or take the call out and write its rule by hand")
            }
            strings.append((text, token.place))
        }
        guard let pattern = strings.first, strings.count > 1 else {
            throw .unusable("nothing-pinned", "add(...) has no pins", at: place)
        }
        var pins: [PublicKeyPin] = []
        for pin in strings.dropFirst() {
            pins.append(try ForeignValues.key(pin.text, prefix: "sha256/", at: pin.place))
        }
        try patterns.add(pattern.text, pins, at: pattern.place)
    }
}

/// The patterns of a `CertificatePinner`. In OkHttp a host has the pins of every pattern that matches it. In a policy
/// only one rule decides, so each rule gets all of these pins.
private struct OkHttpPatterns {
    private struct Entry {
        /// The place of the first of its patterns.
        let place: TextPlace
        /// `example.com`, `*.example.com` and `**.example.com`.
        var exact: [PublicKeyPin] = []
        var oneLabel: [PublicKeyPin] = []
        var everyDepth: [PublicKeyPin] = []
    }

    private var entries: [ServerName: Entry] = [:]
    private var order: [ServerName] = []

    mutating func add(_ pattern: String, _ pins: [PublicKeyPin], at place: TextPlace) throws(ToolError) {
        let stars = pattern.hasPrefix("**.") ? 2 : pattern.hasPrefix("*.") ? 1 : 0
        let host = try ForeignValues.host(String(pattern.dropFirst(stars > 0 ? stars + 1 : 0)), at: place)
        var entry = entries[host] ?? Entry(place: place)
        if entries[host] == nil { order.append(host) }
        switch stars {
        case 2: entry.everyDepth += pins
        case 1: entry.oneLabel += pins
        default: entry.exact += pins
        }
        entries[host] = entry
    }

    func draft(at place: TextPlace) throws(ToolError) -> ImportDraft {
        guard !order.isEmpty else { throw .unusable("nothing-pinned", "nothing is added", at: place) }
        var draft = ImportDraft()
        for host in order {
            guard let entry = entries[host] else { continue }
            var rule = PinnedHost(unchecked: host)
            let inherited = pinsFromParents(of: host)
            let here = Set(entry.exact + entry.everyDepth + inherited.here)
            let below = Set(entry.oneLabel + entry.everyDepth + inherited.below)
            rule.includesSubdomains = !entry.oneLabel.isEmpty || !entry.everyDepth.isEmpty
            if rule.includesSubdomains, !here.isEmpty, here != below {
                throw .unusable(
                    "not-expressible", "\(host) and its sub-domains have different pins", at: entry.place,
                    hint: "a rule has one set: give both the same pins, or name the sub-domains")
            }
            if !entry.oneLabel.isEmpty {
                let what = here.isEmpty ? "the host itself and sub-domains" : "sub-domains"
                draft.lose(
                    .subdomains, .stricter, "\(what) of every depth are pinned, not only those of one label",
                    rule.description
                )
            }
            rule.pins = (entry.exact + entry.oneLabel + entry.everyDepth + inherited.here).map {
                Pin(.publicKey($0))
            }
            draft.add(rule, at: entry.place)
        }
        return draft
    }

    /// Returns the pins of parents for the host, and for its sub-domains: a pattern for one label does not cover those.
    private func pinsFromParents(of host: ServerName) -> (here: [PublicKeyPin], below: [PublicKeyPin]) {
        var pins: (here: [PublicKeyPin], below: [PublicKeyPin]) = ([], [])
        var labels = host.labels[...]
        var isDirect = true
        while labels.count > 1 {
            labels = labels.dropFirst()
            if let name = try? ServerName(labels.joined(separator: ".")), let entry = entries[name] {
                pins.here += entry.everyDepth + (isDirect ? entry.oneLabel : [])
                pins.below += entry.everyDepth
            }
            isDirect = false
        }
        return pins
    }
}
