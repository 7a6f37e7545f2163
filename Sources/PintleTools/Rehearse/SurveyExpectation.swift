internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintleText

/// A file of hosts with the answer that each is expected to give.
///
///     # written by pintle rehearse --proxy --survey --record
///     api.example.com          pinned
///     cdn.example.com:8443     unpinned
///     *.telemetry.example.net  unpinned
///
/// The most specific line decides: the host itself, then the longest suffix. Without a port, a line is about 443.
struct SurveyExpectation {
    struct Line {
        let number: Int
        /// The pattern as it is written.
        let pattern: String
        let answer: SurveyedHost.Answer
    }

    /// The name of the file.
    let name: String
    private var lines: [String: Line] = [:]

    private static let lineLimit = 10_000
    private static let head = """
        # The hosts of a client, and what each was seen to do: pintle rehearse --proxy --survey --expect FILE
        # answers: \(answers)

        """
    /// The answers that can be expected. A host without a verdict cannot be.
    private static let answers = SurveyedHost.Answer.allCases.filter { $0 != .inconclusive }.map(\.rawValue)
        .joined(separator: ", ")

    init(_ file: InputFile) throws(ToolError) {
        name = file.name
        let text = String(decoding: file.bytes, as: UTF8.self)
        for (index, row) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = row.split(whereSeparator: \.isWhitespace)
            guard let last = words.last, words.first?.hasPrefix("#") == false else { continue }
            guard words.count == 2, let answer = SurveyedHost.Answer(rawValue: String(last)), answer != .inconclusive
            else {
                throw Self.error(
                    "\"\(row.prefix(100))\" is not a host and an answer", in: file, index + 1,
                    hint: "answers: \(Self.answers)")
            }
            let pattern = Self.pattern(String(words[0]))
            guard lines[pattern] == nil, lines.count < Self.lineLimit else {
                throw Self.error(
                    lines[pattern].map { "\(pattern) is in line \($0.number) already" } ?? "there are too many lines",
                    in: file, index + 1, hint: "leave one of them out")
            }
            lines[pattern] = Line(number: index + 1, pattern: pattern, answer: answer)
        }
    }

    private static func error(_ message: String, in file: InputFile, _ line: Int, hint: String) -> ToolError {
        .unusable("invalid-expectation", message, file: file.name, line: line, hint: hint)
    }

    /// Returns the line about a host.
    func line(for host: SurveyedHost) -> Line? {
        Self.patterns(of: host).lazy.compactMap { lines[$0.lowercased()] }.first
    }

    /// Returns the lines that are about none of the hosts, in the order of the file.
    func lines(without hosts: [SurveyedHost]) -> [Line] {
        let seen = Set(hosts.compactMap { line(for: $0)?.number })
        return lines.values.filter { !seen.contains($0.number) }.sorted { $0.number < $1.number }
    }

    /// Returns the patterns that match a host, the most specific first.
    private static func patterns(of host: SurveyedHost) -> [String] {
        let port = host.port == 443 ? "" : ":\(host.port)"
        let name = word(for: host.name)
        var patterns = [pattern(of: host)]
        var rest = name[...]
        // A name has at most 127 labels (RFC 1035 section 3.1). Longer ones are no names.
        for _ in 0..<127 {
            guard !name.contains(":"), let dot = rest.firstIndex(of: ".") else { break }
            rest = rest[rest.index(after: dot)...]
            patterns.append("*.\(rest)\(port)")
        }
        return patterns
    }

    /// Returns a pattern as ``pattern(of:)`` writes it: in lower case, without a dot at the end and without port 443.
    private static func pattern(_ text: String) -> String {
        var pattern = text.lowercased()
        // A bare IPv6 address may end like that too.
        if pattern.hasSuffix(":443"), pattern.hasPrefix("[") || pattern.count(where: { $0 == ":" }) == 1 {
            pattern.removeLast(":443".count)
        }
        if pattern.hasPrefix("["), pattern.hasSuffix("]") { pattern = String(pattern.dropFirst().dropLast()) }
        if pattern.hasSuffix(".") { pattern.removeLast() }
        return pattern
    }

    private static func pattern(of host: SurveyedHost) -> String {
        let name = word(for: host.name)
        return host.port == 443 ? name : Proxy.authority(name, host.port)
    }

    /// Returns a name as one word that is no comment, no pattern and no other host's word. The client may ask for any
    /// bytes.
    private static func word(for name: String) -> String {
        if IPAddress(name) != nil { return name }
        var word = ""
        for scalar in name.unicodeScalars {
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains(scalar))
            word += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        // A reader leaves out a dot at the end.
        if word.hasSuffix(".") { return word.dropLast() + "\\u{2e}" }
        return word.isEmpty ? "\\u{}" : word
    }

    /// Returns the file for these hosts, sorted so that a difference between two files is small. Inconclusive hosts are
    /// left out, so that the next survey reports them.
    static func text(for hosts: [SurveyedHost]) -> String {
        let rows = hosts.filter { $0.answer != .inconclusive }.map { (pattern: pattern(of: $0), answer: $0.answer) }
            .sorted { $0.pattern < $1.pattern }
        let width = (rows.map(\.pattern.count).max() ?? 0) + 2
        return head + rows.map { TextLayout.padded($0.pattern, to: width) + $0.answer.rawValue + "\n" }.joined()
    }
}
