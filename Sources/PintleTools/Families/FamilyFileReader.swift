internal import Pintle
internal import PintleSystem

/// Reads a file of authority families.
struct FamilyFileReader: ValueReader {
    var problems: [(offset: Int, error: ToolError)] = []
    private var pins: [PublicKeyPin: String] = [:]

    private init() {}

    /// - Parameter file: the name of the file in errors.
    /// - Throws: every problem with its place, in the order of the file; at most 100.
    static func read(_ bytes: [UInt8], file: String) throws(ToolError) -> AuthorityFamilies {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: .init(maximumBytes: FamilyLimits.fileSize, maximumDepth: 12))
        } catch {
            throw .unusable(
                error.code.rawValue, error.message, file: file, line: error.line, column: error.column,
                hint: error.hint ?? "the file must be JSON as RFC 8259 has it")
        }
        var reader = FamilyFileReader()
        let families = reader.file(document.root)
        if let error = ToolError.joining(reader.placed(in: document, file: file)) { throw error }
        guard let families else { throw .unusable("invalid-families", "the file cannot be used", file: file) }
        return families
    }

    private mutating func file(_ root: JSONValue) -> AuthorityFamilies? {
        guard let members = members(of: root, as: FamilyKeys.File.self, "the file") else { return nil }
        if let version = required(.version, of: members, in: root, "the file", example: "1") {
            _ = integer(version, in: 1...1, id: "unsupported-version", "version")
        }
        let date = required(.date, of: members, in: root, "the file", example: "\"2026-11-23\"")
            .flatMap { self.date($0, "date") }
        var names: [String] = []
        let families =
            required(.families, of: members, in: root, "the file", example: "[{\"id\": ...}]")
            .map { self.families($0, &names) } ?? []
        let ids = families.map(\.id)
        let edges = members[.edges].map { self.edges($0, ids, &names) } ?? []
        guard problems.isEmpty, let date else { return nil }
        return AuthorityFamilies(date: date, families: families, edges: edges)
    }

    // MARK: Families

    private mutating func families(_ value: JSONValue, _ names: inout [String]) -> [AuthorityFamily] {
        var families: [AuthorityFamily] = []
        for (index, element) in list(value, "families", limit: FamilyLimits.families).enumerated() where !isFull {
            let path = "families[\(index)]"
            guard let members = members(of: element, as: FamilyKeys.Family.self, path) else { continue }
            let (id, name, aliases) = self.names(
                (members[.id], members[.name], members[.aliases]), in: element, path, &names)
            let sources = members[.sources].map { quotations($0, "\(path).sources") } ?? []
            let advice = members[.advice].map { quotations($0, "\(path).advice") } ?? []
            let lifetimes = members[.lifetimes].map { self.lifetimes($0, "\(path).lifetimes") } ?? []
            let rotation = members[.rotation].map { self.rotation($0, "\(path).rotation") } ?? []
            let roots =
                required(.roots, of: members, in: element, path, example: "[{\"name\": ..., \"pin\": ...}]")
                .map { self.members(in: $0, "\(path).roots") } ?? []
            let intermediates = members[.intermediates].map { self.members(in: $0, "\(path).intermediates") } ?? []
            guard let id, let name else { continue }
            families.append(
                AuthorityFamily(
                    id: id, name: name, aliases: aliases, sources: sources, advice: advice, lifetimes: lifetimes,
                    rotation: rotation, roots: roots, intermediates: intermediates))
        }
        return families
    }

    /// Reads the words by which a family or an edge can be asked for. No two may share one.
    private mutating func names(
        _ values: (id: JSONValue?, name: JSONValue?, aliases: JSONValue?), in object: JSONValue, _ path: String,
        _ known: inout [String]
    ) -> (id: String?, name: String?, aliases: [String]) {
        var read: [String?] = []
        for (key, value) in [("id", values.id), ("name", values.name)] {
            if value == nil {
                report(
                    "missing-key", object, "\(path) has no \"\(key)\"",
                    help: "add \"\(key)\": \(key == "id" ? "\"letsencrypt\"" : "\"Let's Encrypt\"")")
            }
            read.append(value.flatMap { name($0, "\(path).\(key)") })
            if key == "id", let value, let id = read[0], !id.utf8.allSatisfy(Self.isOfIDs) {
                report(
                    "invalid-id", value, "\(path).id is not a valid id",
                    help: "write small letters, digits, hyphens and dots")
            }
        }
        var aliases: [String] = []
        if let value = values.aliases {
            for (index, element) in list(value, "\(path).aliases", limit: FamilyLimits.aliases, mayBeEmpty: true)
                .enumerated() where !isFull
            {
                if let alias = name(element, "\(path).aliases[\(index)]") { aliases.append(alias) }
            }
        }
        for word in Set((read.compactMap(\.self) + aliases).map { $0.lowercased() }).sorted() {
            if known.contains(word) {
                report("duplicate-name", object, "\(path) is called \"\(word)\" like another", help: "rename one")
            }
            known.append(word)
        }
        return (read[0], read[1], aliases)
    }

    /// Ids become words of command lines to copy.
    private static func isOfIDs(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    private mutating func members(in value: JSONValue, _ path: String) -> [AuthorityFamily.Member] {
        var found: [AuthorityFamily.Member] = []
        for (index, element) in list(value, path, limit: FamilyLimits.members).enumerated() where !isFull {
            let path = "\(path)[\(index)]"
            guard let members = members(of: element, as: FamilyKeys.Member.self, path) else { continue }
            let name = required(.name, of: members, in: element, path, example: "\"ISRG Root X1\"")
                .flatMap { self.name($0, "\(path).name") }
            let notAfter = members[.notAfter].flatMap { self.date($0, "\(path).notAfter") }
            let pin = members[.pin].flatMap { newPin($0, "\(path).pin") }
            let origin: String?
            if let missing = members[.missing] {
                origin = text(missing, "\(path).missing")
                if let value = members[.pin] {
                    report(
                        "pin-of-missing", value, "\(path) is missing and has a pin", help: "remove one of the two")
                }
            } else {
                if members[.pin] == nil {
                    report(
                        "missing-key", element, "\(path) has no \"pin\"",
                        help: "add \"pin\": \"sha256/...\", or say where it was sought: \"missing\": ...")
                }
                origin = required(.from, of: members, in: element, path, example: "\"ca-certificates 20250419: ...\"")
                    .flatMap { text($0, "\(path).from") }
            }
            let note = members[.note].flatMap { text($0, "\(path).note") }
            guard let name, let origin else { continue }
            found.append(
                AuthorityFamily.Member(name: name, pin: pin, notAfter: notAfter, origin: origin, note: note))
        }
        return found
    }

    /// Reads a pin that stands in the file only once: a cross-signed root has one key.
    private mutating func newPin(_ value: JSONValue, _ path: String) -> PublicKeyPin? {
        guard let pin = pin(value, path) else { return nil }
        if let other = pins[pin] {
            report("duplicate-pin", value, "\(path) is also \(other)", help: "list each key once")
        }
        pins[pin] = path
        return pin
    }

    // MARK: Sentences

    private mutating func quotations(_ value: JSONValue, _ path: String) -> [AuthorityFamily.Quotation] {
        var found: [AuthorityFamily.Quotation] = []
        for (index, element) in list(value, path, limit: FamilyLimits.quotations).enumerated() where !isFull {
            let path = "\(path)[\(index)]"
            guard let members = members(of: element, as: FamilyKeys.Quotation.self, path) else { continue }
            let url = required(.url, of: members, in: element, path, example: "\"https://...\"")
                .flatMap { text($0, "\(path).url") }
            let read = required(.read, of: members, in: element, path, example: "\"2026-11-23\"")
                .flatMap { self.date($0, "\(path).read") }
            let sentence = required(.sentence, of: members, in: element, path, example: "\"...\"")
                .flatMap { text($0, "\(path).sentence") }
            guard let url, let read, let sentence else { continue }
            found.append(AuthorityFamily.Quotation(url: url, read: read, sentence: sentence))
        }
        return found
    }

    private mutating func lifetimes(_ value: JSONValue, _ path: String) -> [AuthorityFamily.Lifetime] {
        var found: [AuthorityFamily.Lifetime] = []
        for (index, element) in list(value, path, limit: FamilyLimits.lifetimes).enumerated() where !isFull {
            let path = "\(path)[\(index)]"
            guard let members = members(of: element, as: FamilyKeys.Lifetime.self, path) else { continue }
            let from = members[.from].flatMap { self.date($0, "\(path).from") }
            let days = required(.days, of: members, in: element, path, example: "90")
                .flatMap { integer($0, in: 1...FamilyLimits.days, id: "invalid-days", "\(path).days") }
            let sources = members[.sources].map { quotations($0, "\(path).sources") } ?? []
            if index > 0, (from ?? .distantPast) <= (found.last?.from ?? .distantPast) {
                report(
                    "dates-out-of-order", element, "\(path) does not begin after the one before it",
                    help: "sort them by \"from\"; only the first may have none")
            }
            guard let days else { continue }
            found.append(AuthorityFamily.Lifetime(from: from, days: days, sources: sources))
        }
        return found
    }

    private mutating func rotation(_ value: JSONValue, _ path: String) -> [AuthorityFamily.Quotation] {
        guard let members = members(of: value, as: FamilyKeys.Rotation.self, path) else { return [] }
        return required(.sources, of: members, in: value, path, example: "[{\"url\": ...}]")
            .map { quotations($0, "\(path).sources") } ?? []
    }

    /// Reads a text that the output prints.
    private mutating func text(_ value: JSONValue, _ path: String) -> String? {
        guard let text = string(value, path) else { return nil }
        let scalars = text.unicodeScalars
        guard !scalars.isEmpty, scalars.count <= FamilyLimits.textLength, !scalars.contains(where: \.isUnsafeToPrint)
        else {
            report(
                "invalid-text", value, "\(path) cannot be printed",
                help: "write 1 to \(FamilyLimits.textLength) visible characters on one line")
            return nil
        }
        return text
    }

    // MARK: Edges

    private mutating func edges(_ value: JSONValue, _ families: [String], _ names: inout [String]) -> [IssuingEdge] {
        var edges: [IssuingEdge] = []
        for (index, element) in list(value, "edges", limit: FamilyLimits.families, mayBeEmpty: true).enumerated()
        where !isFull {
            let path = "edges[\(index)]"
            guard let members = members(of: element, as: FamilyKeys.Edge.self, path) else { continue }
            let (id, name, aliases) = self.names(
                (members[.id], members[.name], members[.aliases]), in: element, path, &names)
            var positions: [Int] = []
            let list =
                required(.families, of: members, in: element, path, example: "[\"google\"]")
                .map { self.list($0, "\(path).families", limit: FamilyLimits.families) } ?? []
            for (position, element) in list.enumerated() where !isFull {
                let path = "\(path).families[\(position)]"
                guard let index = reference(element, to: families, path, called: "family") else { continue }
                if positions.contains(index) {
                    report("duplicate-name", element, "\(path) is listed twice", help: "list each family once")
                }
                positions.append(index)
            }
            let sources = members[.sources].map { quotations($0, "\(path).sources") } ?? []
            let advice = members[.advice].map { quotations($0, "\(path).advice") } ?? []
            guard let id, let name else { continue }
            edges.append(
                IssuingEdge(
                    id: id, name: name, aliases: aliases, families: positions, sources: sources, advice: advice))
        }
        return edges
    }
}

/// The limits of a file of families.
enum FamilyLimits {
    static let fileSize = 4 << 20
    static let families = 64
    static let aliases = 16
    static let members = 128
    static let quotations = 16
    static let lifetimes = 16
    static let days: Int64 = 3_653
    /// The most characters of a sentence.
    static let textLength = 1_000
}

/// The keys of a file of families, object by object.
enum FamilyKeys {
    enum File: String, CaseIterable { case version, date, families, edges }
    enum Family: String, CaseIterable {
        case id, name, aliases, sources, advice, lifetimes, rotation, roots, intermediates
    }
    enum Member: String, CaseIterable { case name, pin, notAfter, from, missing, note }
    enum Quotation: String, CaseIterable { case url, read, sentence }
    enum Lifetime: String, CaseIterable { case from, days, sources }
    enum Rotation: String, CaseIterable { case sources }
    enum Edge: String, CaseIterable { case id, name, aliases, families, sources, advice }
}
