internal import Pintle
internal import PintleAttacks

/// A policy with a rule for each unpinned host, whose pins are still to be found.
///
/// The placeholders are no pins, so every reader refuses the policy until real pins are in their place.
enum SurveyRules {
    static let placeholder = "REPLACE"

    /// Returns the unpinned hosts as rules name them, and the others, whose names no rule can have.
    static func endpoints(of hosts: [SurveyedHost]) -> (named: [ServerEndpoint], others: [SurveyedHost]) {
        let unpinned = hosts.filter { $0.answer.isExposed }
        return (unpinned.compactMap(endpoint), unpinned.filter { endpoint($0) == nil })
    }

    static func document(for endpoints: [ServerEndpoint]) -> JSONWriter {
        .document { json in
            json.member("version", 1)
            json.objects("hosts", endpoints) { json, endpoint in
                json.member("host", endpoint.host.description)
                if endpoint.port != 443 { json.member("port", endpoint.port) }
                json.member("pins", ["\(placeholder) by the pin that 'pintle pin \(endpoint)' prints"])
                json.member("backupPins", ["\(placeholder) by the pin of a key that is not in use yet"])
            }
        }
    }

    /// Returns the host as a rule names it; `nil` if it has no name that a rule can have.
    private static func endpoint(_ host: SurveyedHost) -> ServerEndpoint? {
        (try? ServerName(host.name)).map { ServerEndpoint(host: $0, port: host.port) }
    }
}
