import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// A survey of clients written as a shell script.
struct SurveyFixture {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// curl that trusts the survey's authority.
    static let trusting = "curl -sS -m 20 -o /dev/null --cacert \"$1\" "
    /// The same with a pin that no server has.
    static let pinning = trusting + "--pinnedpubkey sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= "

    /// Returns the arguments that survey a script. `$1` is the authority, `$2` the proxy's port.
    static func arguments(_ options: [String], _ script: String) -> [String] {
        ["rehearse", "--proxy", "--survey", "--timeout", "60"] + options
            + ["--", "sh", "-c", script + "\nexit 0", "sh", "{ca}", "{proxy-port}"]
    }

    static func run(_ options: String..., script: String) -> ToolRun {
        ToolRun(arguments: arguments(options, script))
    }

    /// Returns the hosts of the document by host and port.
    static func hosts(_ run: ToolRun) throws -> [String: JSONValue] {
        var hosts: [String: JSONValue] = [:]
        for host in try #require(try run.json()["hosts"]?.elements) {
            hosts["\(try #require(host["host"]?.string)):\(try #require(host["port"]?.integer))"] = host
        }
        return hosts
    }

    /// Returns the answers of the document by host and port.
    static func answers(_ run: ToolRun) throws -> [String: String] {
        try hosts(run).compactMapValues { $0["answer"]?.string }
    }

    /// Returns a line of `bash` that opens a tunnel as descriptor 3, sends text and reads until the end.
    static func tunnel(_ authority: String, sending text: String) -> String {
        """
        bash -c 'exec 3<>/dev/tcp/127.0.0.1/$0; printf "CONNECT \(authority) HTTP/1.1\\r\\n\\r\\n" >&3
        while IFS= read -r line <&3 && [ "$line" != "$(printf "\\r")" ]; do :; done; printf "\(text)" >&3' "$2"

        """
    }
}
