/// A client to run: its words with placeholders, whose values are known only when a server is up.
struct ClientCommand {
    let words: [String]

    init(_ words: [String]) throws(ToolError) {
        self.words = words
        // A client that does not go to the server would count as blocked and prove nothing.
        guard uses("url") || uses("port") else {
            throw .unusable(
                "no-placeholder", "the client is not told where the server is",
                hint: "put {url}, or {host} and {port}, where it takes an address: pintle rehearse -- curl {url}")
        }
    }

    /// The command line as a user types it.
    var line: String { words.map(ShellWord.quoted).joined(separator: " ") }

    func uses(_ name: String) -> Bool { words.contains { $0.contains("{\(name)}") } }

    /// Boolean values that indicate whether the client gets the pin and the backup pin in any form.
    var isTold: (pin: Bool, backup: Bool) {
        let both = uses("pins") || uses("policy")
        return (
            both || uses("pin") || uses("pin-base64") || uses("issuer") || uses("issuer-base64"),
            both || uses("backup") || uses("backup-base64") || uses("issuer") || uses("issuer-base64")
        )
    }

    /// Returns the words for a server. Inserted values are not searched for placeholders, and other braces stay.
    func words(_ values: [String: String]) -> [String] {
        words.map { word in
            var result = ""
            var rest = word[...]
            while let brace = rest.firstIndex(of: "{") {
                result += rest[..<brace]
                rest = rest[brace...]
                let name = rest.dropFirst().prefix { $0 != "}" && $0 != "{" }
                if let value = values[String(name)], name.endIndex < rest.endIndex, rest[name.endIndex] == "}" {
                    result += value
                    rest = rest[rest.index(after: name.endIndex)...]
                } else {
                    result += "{"
                    rest = rest.dropFirst()
                }
            }
            return result + rest
        }
    }
}
