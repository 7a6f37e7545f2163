internal import Pintle

/// The command line of a client, with placeholders whose values are known only when a server is up.
struct ClientCommand {
    let words: [String]
    /// The program that starts the client.
    private var prefix: [String] = []

    /// - Parameter isProxied: `true` for a client that finds the servers through a proxy, so that it needs no placeholder.
    init(_ words: [String], isProxied: Bool = false) throws(ToolError) {
        self.words = words
        // A client that does not connect to the server would count as blocked and prove nothing.
        guard isProxied || uses("url") || uses("port") else {
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

    /// A name for a host without pins, which ``withOwnHosts`` makes known.
    static let otherHost = "unpinned.invalid"

    /// A Boolean value that indicates whether the command was returned by ``withOwnHosts``.
    var hasOwnHosts: Bool { prefix.first == "unshare" }

    /// The same command with its own /etc/hosts, in which the host of the run is this machine. It needs a mount namespace, and
    /// without root a user namespace too.
    var withOwnHosts: ClientCommand {
        let script = """
            hosts=$(mktemp) && trap 'rm -f "$hosts"' EXIT && printf '127.0.0.1 localhost %s %s\\n' "$0" \(Self.otherHost) >"$hosts" \
            && mount --bind "$hosts" /etc/hosts && rm "$hosts" && exec "$@"
            """
        var command = self
        command.prefix = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "{host}"]
        return command
    }

    /// Returns the words for a server. Inserted values are not searched for placeholders, and other braces stay.
    func words(_ values: [String: String]) -> [String] {
        (prefix + words).map { word in
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
