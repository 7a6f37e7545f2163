internal import Pintle

/// A reader of `CertificatePinner.Builder()` and the calls that follow it, in Kotlin or Java.
struct OkHttpImport {
    private let tokens: [CodeToken]
    private var index = 0
    private var patterns = OkHttpPatterns()
    /// Names of string constants that have the same value everywhere in the file.
    private let constants: [String: String]

    static func read(_ bytes: [UInt8]) throws(ForeignError) -> ImportDraft {
        let tokens = try CodeScanner.tokens(of: bytes)
        var reader = OkHttpImport(tokens)
        let builders = tokens.indices.filter { reader.isBuilder(at: $0) }
        guard let start = builders.first else {
            throw ForeignError(
                "nothing-pinned", "no CertificatePinner.Builder()", at: nil, hint: "give the file that has it")
        }
        if builders.count > 1 {
            throw ForeignError(
                "ambiguous", "a second CertificatePinner.Builder(), and the clients that use each are not known",
                at: tokens[builders[1]].place, hint: "give only one of them")
        }
        reader.index = start + 5
        try reader.chain()
        return try reader.patterns.draft(at: tokens[start].place)
    }

    private init(_ tokens: [CodeToken]) {
        self.tokens = tokens
        var values: [String: Set<String>] = [:]
        for index in tokens.indices.dropLast(2) where tokens[index + 1].isPunctuation("=") {
            guard case .identifier(let name) = tokens[index].kind else { continue }
            if case .string(let text) = tokens[index + 2].kind, !Self.continues(tokens, after: index + 2) {
                values[name, default: []].insert(text)
            } else {
                // The name gets another value elsewhere.
                values[name, default: []].formUnion(["", "\0"])
            }
        }
        constants = values.compactMapValues { $0.count == 1 ? $0.first : nil }
    }

    /// Returns whether the next tokens change the string, such as `+`.
    private static func continues(_ tokens: [CodeToken], after index: Int) -> Bool {
        guard index + 1 < tokens.count, case .punctuation(let character) = tokens[index + 1].kind else { return false }
        return character == "+" || character == "."
    }

    /// `CertificatePinner.Builder()`
    private func isBuilder(at index: Int) -> Bool {
        guard index + 4 < tokens.count else { return false }
        return tokens[index].isIdentifier("CertificatePinner") && tokens[index + 1].isPunctuation(".")
            && tokens[index + 2].isIdentifier("Builder") && tokens[index + 3].isPunctuation("(")
            && tokens[index + 4].isPunctuation(")")
    }

    // MARK: Calls

    private var following: CodeToken? { index < tokens.count ? tokens[index] : nil }

    private func unexpected(_ wanted: String) -> ForeignError {
        ForeignError(
            "unknown-code", "\(following?.text ?? "the end of the file") where \(wanted) is expected",
            at: following?.place ?? tokens.last?.place,
            hint:
                "chain the calls with the values themselves: CertificatePinner.Builder().add(\"HOST\", \"sha256/...\")"
                + ".build()")
    }

    private mutating func expect(_ character: Character, _ wanted: String) throws(ForeignError) {
        guard skip(character) else { throw unexpected(wanted) }
    }

    private mutating func skip(_ character: Character) -> Bool {
        guard following?.isPunctuation(character) == true else { return false }
        index += 1
        return true
    }

    private mutating func skipName(_ name: String) -> Bool {
        guard following?.isIdentifier(name) == true else { return false }
        index += 1
        return true
    }

    /// Reads `.add(...)` and `.apply { add(...) }`, until `.build()`.
    private mutating func chain() throws(ForeignError) {
        while true {
            try expect(".", ".add or .build")
            if skipName("build") {
                try expect("(", "()")
                return try expect(")", "()")
            }
            if skipName("add") {
                try arguments()
            } else if skipName("apply") {
                try expect("{", "{")
                while !skip("}") {
                    if skipName("this") { try expect(".", ".add") }
                    guard skipName("add") else { throw unexpected("add") }
                    try arguments()
                    _ = skip(";")
                }
            } else {
                throw unexpected("add or build")
            }
        }
    }

    /// Reads `("pattern", "sha256/...", ...)`.
    private mutating func arguments() throws(ForeignError) {
        try expect("(", "(")
        let (pattern, place) = try text()
        var pins: [PublicKeyPin] = []
        while skip(",") {
            if following?.isPunctuation(")") == true { break }
            let (pin, place) = try text()
            pins.append(try ForeignValues.key(pin, prefix: "sha256/", at: place))
        }
        try expect(")", "a comma or )")
        guard !pins.isEmpty else {
            throw ForeignError("nothing-pinned", "\(pattern) has no pins", at: place)
        }
        try patterns.add(pattern, pins, at: place)
    }

    private mutating func text() throws(ForeignError) -> (String, ForeignPlace) {
        guard let token = following else { throw unexpected("a string") }
        guard !Self.continues(tokens, after: index) else {
            index += 1
            throw unexpected("a comma or )")
        }
        switch token.kind {
        case .string(let text):
            index += 1
            return (text, token.place)
        case .identifier(let name):
            guard let text = constants[name] else {
                throw ForeignError(
                    "not-a-literal", "the value of \(name) is not known", at: token.place,
                    hint: "write the string itself")
            }
            index += 1
            return (text, token.place)
        default: throw unexpected("a string")
        }
    }
}

/// The patterns of a `CertificatePinner`. In OkHttp a host has the pins of every pattern that matches it. In a policy only
/// one rule decides, so each rule gets all of these pins.
private struct OkHttpPatterns {
    private struct Entry {
        /// The place of the first of its patterns.
        let place: ForeignPlace
        /// `example.com`, `*.example.com` and `**.example.com`.
        var exact: [PublicKeyPin] = []
        var oneLabel: [PublicKeyPin] = []
        var everyDepth: [PublicKeyPin] = []
    }

    private var entries: [ServerName: Entry] = [:]
    private var order: [ServerName] = []

    mutating func add(_ pattern: String, _ pins: [PublicKeyPin], at place: ForeignPlace) throws(ForeignError) {
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

    func draft(at place: ForeignPlace) throws(ForeignError) -> ImportDraft {
        guard !order.isEmpty else { throw ForeignError("nothing-pinned", "nothing is added", at: place) }
        var draft = ImportDraft()
        for host in order {
            guard let entry = entries[host] else { continue }
            var rule = PinnedHost(unchecked: host)
            let inherited = pinsFromParents(of: host)
            let here = Set(entry.exact + entry.everyDepth + inherited.here)
            let below = Set(entry.oneLabel + entry.everyDepth + inherited.below)
            rule.includesSubdomains = !entry.oneLabel.isEmpty || !entry.everyDepth.isEmpty
            if rule.includesSubdomains, !here.isEmpty, here != below {
                throw ForeignError(
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
