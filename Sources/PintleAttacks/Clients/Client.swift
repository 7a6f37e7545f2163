/// The command line of an attacked client, with placeholders whose values are known only when a server is up.
package struct Client: Sendable {
    package let words: [String]
    /// The program that starts the client.
    private var prefix: [String] = []

    package init(_ words: [String]) {
        self.words = words
    }

    /// A Boolean value that indicates whether the client is told where the server is.
    package var isToldServer: Bool { uses("url") || uses("port") }

    package func uses(_ name: String) -> Bool { words.contains { $0.contains("{\(name)}") } }

    /// Boolean values that indicate whether the client gets the pin, the backup pin and the second host's pin in any
    /// form, and a certificate of its own.
    package var isTold: (pin: Bool, backup: Bool, secondPin: Bool, identity: Bool) {
        let both = uses("pins") || uses("policy")
        return (
            both || uses("pin") || uses("pin-base64") || uses("issuer") || uses("issuer-base64"),
            both || uses("backup") || uses("backup-base64") || uses("issuer") || uses("issuer-base64"),
            uses("policy") || uses("other-pin") || uses("other-pin-base64"), uses("identity")
        )
    }

    /// A name for a host without pins, which ``withOwnHosts`` makes known.
    package static let secondHost = "unpinned.invalid"

    /// A Boolean value that indicates whether the command was returned by ``withOwnHosts``.
    package var hasOwnHosts: Bool { prefix.first == "unshare" }

    /// The same command with its own /etc/hosts, in which the host of the run is this machine. It needs a mount
    /// namespace, and without root a user namespace too.
    package var withOwnHosts: Client {
        let script = """
            hosts=$(mktemp) && trap 'rm -f "$hosts"' EXIT \
            && printf '127.0.0.1 localhost %s %s\\n' "$0" \(Self.secondHost) >"$hosts" \
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
