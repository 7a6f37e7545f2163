internal import Pintle
internal import PintlePolicyFile
internal import PintleSystem

/// Reads a file of authority families.
package struct FamilyFileReader: ValueReader {
    package var problems: [ValueProblem] = []
    private var pins: [PublicKeyPin: String] = [:]

    /// - Parameter file: the name of the file in errors.
    /// - Throws: every problem with its place, in the order of the file; at most 100.
    package static func read(_ bytes: [UInt8], file: String) throws(ValueProblems) -> AuthorityFamilies {
        var reader = FamilyFileReader()
        let limits = JSONDocument.Limits(maximumBytes: FamilyLimits.fileSize, maximumDepth: 12)
        return try reader.document(bytes, limits, file: file, called: "the file", unusable: "invalid-families") {
            $0.file($1)
        }
    }

    /// Reads the file that is part of the program.
    package static func builtIn() throws(ValueProblems) -> AuthorityFamilies {
        try read(PackageResources.authorities_json, file: "authorities.json (built in)")
    }

    private mutating func file(_ root: JSONValue) -> AuthorityFamilies? {
        guard let fields = fields(of: root, as: FamilyKeys.File.self, "the file", isDocument: true) else { return nil }
        _ = required(.version, of: fields, example: "1") {
            $0.integer($1, in: 1...1, id: "unsupported-version", $2)
        }
        let date = required(.date, of: fields, example: "\"2026-11-23\"") { $0.date($1, $2) }
        var names: [String] = []
        let families =
            required(.families, of: fields, example: "[{\"id\": ...}]") { $0.families($1, &names, $2) } ?? []
        let ids = families.map(\.id)
        let edges = optional(.edges, of: fields) { $0.edges($1, ids, &names, $2) } ?? []
        guard problems.isEmpty, let date else { return nil }
        return AuthorityFamilies(date: date, families: families, edges: edges)
    }

    // MARK: Families

    private mutating func families(
        _ value: JSONValue, _ names: inout [String], _ path: String
    ) -> [AuthorityFamily] {
        var families: [AuthorityFamily] = []
        for (element, path) in list(value, path, limit: FamilyLimits.families) where !isFull {
            guard let fields = fields(of: element, as: FamilyKeys.Family.self, path) else { continue }
            let (id, name, aliases) = self.names(fields, .id, .name, .aliases, &names)
            let sources = optional(.sources, of: fields) { $0.quotations($1, $2) } ?? []
            let advice = optional(.advice, of: fields) { $0.quotations($1, $2) } ?? []
            let lifetimes = optional(.lifetimes, of: fields) { $0.lifetimes($1, $2) } ?? []
            let rotation = optional(.rotation, of: fields) { $0.rotation($1, $2) } ?? []
            let roots =
                required(.roots, of: fields, example: "[{\"name\": ..., \"pin\": ...}]") { $0.members($1, $2) } ?? []
            let intermediates = optional(.intermediates, of: fields) { $0.members($1, $2) } ?? []
            let retired = optional(.retired, of: fields) { $0.members($1, areRetired: true, $2) } ?? []
            guard let id, let name else { continue }
            families.append(
                AuthorityFamily(
                    id: id, name: name, aliases: aliases, sources: sources, advice: advice, lifetimes: lifetimes,
                    rotation: rotation, roots: roots, intermediates: intermediates, retired: retired))
        }
        return families
    }

    /// Reads the words by which a family or an edge can be asked for. No two may share one.
    private mutating func names<Key>(
        _ fields: Fields<Key>, _ idKey: Key, _ nameKey: Key, _ aliasesKey: Key, _ known: inout [String]
    ) -> (id: String?, name: String?, aliases: [String]) {
        let id = required(idKey, of: fields, example: "\"letsencrypt\"") { $0.name($1, $2) }
        if let id, let value = fields[idKey], !id.utf8.allSatisfy(Self.isOfIDs) {
            report(
                "invalid-id", value, "\(fields.path(idKey)) is not a valid id",
                help: "write small letters, digits, hyphens and dots")
        }
        let name = required(nameKey, of: fields, example: "\"Let's Encrypt\"") { $0.name($1, $2) }
        let aliases = optional(aliasesKey, of: fields) { $0.aliases($1, $2) } ?? []
        for word in Set(([id, name].compactMap(\.self) + aliases).map { $0.lowercased() }).sorted() {
            if known.contains(word) {
                report(
                    "duplicate-name", fields.object, "\(fields.name) is called \"\(word)\" like another",
                    help: "rename one")
            }
            known.append(word)
        }
        return (id, name, aliases)
    }

    private mutating func aliases(_ value: JSONValue, _ path: String) -> [String] {
        var aliases: [String] = []
        for (element, path) in list(value, path, limit: FamilyLimits.aliases, mayBeEmpty: true) where !isFull {
            if let alias = name(element, path) { aliases.append(alias) }
        }
        return aliases
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

    /// - Parameter areRetired: `true` for keys that ended, which need the day.
    private mutating func members(
        _ value: JSONValue, areRetired: Bool = false, _ path: String
    ) -> [AuthorityFamily.Member] {
        var found: [AuthorityFamily.Member] = []
        for (element, path) in list(value, path, limit: FamilyLimits.members) where !isFull {
            guard let fields = fields(of: element, as: FamilyKeys.Member.self, path) else { continue }
            let name = required(.name, of: fields, example: "\"ISRG Root X1\"") { $0.name($1, $2) }
            let notAfter = optional(.notAfter, of: fields) { $0.date($1, $2) }
            if areRetired, fields[.notAfter] == nil {
                reportMissing(.notAfter, of: fields, "add the last day of its last certificate: \"2025-09-15\"")
            }
            let pin = optional(.pin, of: fields) { $0.newPin($1, $2) }
            let origin: String?
            if fields[.missing] != nil {
                origin = optional(.missing, of: fields) { $0.text($1, $2) }
                if let value = fields[.pin] {
                    report(
                        "pin-of-missing", value, "\(path) is missing and has a pin", help: "remove one of the two")
                }
            } else {
                if fields[.pin] == nil {
                    let help = "add \"pin\": \"sha256/...\", or say where it was sought: \"missing\": ..."
                    reportMissing(.pin, of: fields, help)
                }
                origin = required(.from, of: fields, example: "\"ca-certificates 20250419: ...\"") { $0.text($1, $2) }
            }
            let note = optional(.note, of: fields) { $0.text($1, $2) }
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
        for (element, path) in list(value, path, limit: FamilyLimits.quotations) where !isFull {
            guard let fields = fields(of: element, as: FamilyKeys.Quotation.self, path) else { continue }
            let url = required(.url, of: fields, example: "\"https://...\"") { $0.text($1, $2) }
            let read = required(.read, of: fields, example: "\"2026-11-23\"") { $0.date($1, $2) }
            let sentence = required(.sentence, of: fields, example: "\"...\"") { $0.text($1, $2) }
            guard let url, let read, let sentence else { continue }
            found.append(AuthorityFamily.Quotation(url: url, read: read, sentence: sentence))
        }
        return found
    }

    private mutating func lifetimes(_ value: JSONValue, _ path: String) -> [AuthorityFamily.Lifetime] {
        var found: [AuthorityFamily.Lifetime] = []
        for (index, (element, path)) in list(value, path, limit: FamilyLimits.lifetimes).enumerated() where !isFull {
            guard let fields = fields(of: element, as: FamilyKeys.Lifetime.self, path) else { continue }
            let from = optional(.from, of: fields) { $0.date($1, $2) }
            let days = required(.days, of: fields, example: "90") {
                $0.integer($1, in: 1...FamilyLimits.days, id: "invalid-days", $2)
            }
            let sources = optional(.sources, of: fields) { $0.quotations($1, $2) } ?? []
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
        guard let fields = fields(of: value, as: FamilyKeys.Rotation.self, path) else { return [] }
        return required(.sources, of: fields, example: "[{\"url\": ...}]") { $0.quotations($1, $2) } ?? []
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

    private mutating func edges(
        _ value: JSONValue, _ families: [String], _ names: inout [String], _ path: String
    ) -> [IssuingEdge] {
        var edges: [IssuingEdge] = []
        for (element, path) in list(value, path, limit: FamilyLimits.families, mayBeEmpty: true) where !isFull {
            guard let fields = fields(of: element, as: FamilyKeys.Edge.self, path) else { continue }
            let (id, name, aliases) = self.names(fields, .id, .name, .aliases, &names)
            var positions: [Int] = []
            let list =
                required(.families, of: fields, example: "[\"google\"]") {
                    $0.list($1, $2, limit: FamilyLimits.families)
                } ?? []
            for (element, path) in list where !isFull {
                guard let index = reference(element, to: families, path, called: "family") else { continue }
                if positions.contains(index) {
                    report("duplicate-name", element, "\(path) is listed twice", help: "list each family once")
                }
                positions.append(index)
            }
            let sources = optional(.sources, of: fields) { $0.quotations($1, $2) } ?? []
            let advice = optional(.advice, of: fields) { $0.quotations($1, $2) } ?? []
            guard let id, let name else { continue }
            edges.append(
                IssuingEdge(
                    id: id, name: name, aliases: aliases, families: positions, sources: sources, advice: advice))
        }
        return edges
    }
}

/// The limits of a file of families.
package enum FamilyLimits {
    package static let fileSize = 4 << 20
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
        case id, name, aliases, sources, advice, lifetimes, rotation, roots, intermediates, retired
    }
    enum Member: String, CaseIterable { case name, pin, notAfter, from, missing, note }
    enum Quotation: String, CaseIterable { case url, read, sentence }
    enum Lifetime: String, CaseIterable { case from, days, sources }
    enum Rotation: String, CaseIterable { case sources }
    enum Edge: String, CaseIterable { case id, name, aliases, families, sources, advice }
}
