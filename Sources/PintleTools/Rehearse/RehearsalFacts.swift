internal import Pintle
internal import PintleAttacks
internal import PintleConsole

extension Scenario {
    /// The facts that `--list` writes.
    static let facts = name + behaviour + [Fact("why", "Why it matters") { $0.impact }] + classes

    fileprivate static let name: [Fact<Scenario>] = [
        Fact("id", "The attack; `control` for the right server, `other-host` for a host that the proxy refused") {
            $0.id
        },
        Fact("expected", "`refused`, `accepted` or `ended`") { $0.expectation.rawValue },
    ]

    fileprivate static let behaviour: [Fact<Scenario>] = [
        Fact("reference", shown: "reference", "The standard and section") { $0.reference },
        Fact("summary", "The behaviour of the server") { $0.summary },
    ]

    fileprivate static let classes: [Fact<Scenario>] = [
        Fact("group", "The group, as in `--group`; absent for the control") { $0.group?.rawValue },
        Fact("cwe", "The ids of weaknesses in CWE 4.9") { $0.standards.cwe.map(\.id) }
            .shown(as: "weaknesses") { scenario in
                let ids = scenario.standards.entries.map(\.id)
                return ids.isEmpty ? [] : ["\(ids.joined(separator: ", "))"]
            },
        Fact("owasp", "The ids of OWASP's MASVS, MASWE and MASTG") { $0.standards.owasp.map(\.id) },
    ]
}

extension Outcome {
    /// The facts of a result, in the order of the JSON.
    static let facts: [Fact<Outcome>] = [
        Scenario.name.map { $0.of(\.scenario) }, [outcome, requestBytes], client,
        Scenario.behaviour.map { $0.of(\.scenario) }, place, [alert], judgement,
        Scenario.classes.map { $0.of(\.scenario) },
    ].flatMap(\.self)

    /// The facts that tell a finding from others of the same attack.
    static let evidence = [outcome, requestBytes, connection, alert]

    private static let outcome = Fact<Outcome>(
        "outcome", "`accepted`, `blocked`, `ended`, `let-through`, `held`, `inconclusive` or `not-run`"
    ) { $0.verdict.rawValue }
    private static let requestBytes = Fact<Outcome>(
        "requestBytes", shown: "request bytes", "The number of bytes that the server got and decrypted"
    ) { $0.verdict == .notRun ? nil : $0.observation.exposedByteCount }
    private static let connection = Fact<Outcome>(
        "connection", shown: "connection", "The number of the connection that the outcome stands on, from 1"
    ) { $0.connection }
    private static let alert = Fact<Outcome>("alert", shown: "alert", "The last fatal alert of the client") {
        $0.observation.alert.map { "\($0)" }
    }

    private static let client: [Fact<Outcome>] = [
        Fact("milliseconds", "The time that the client took; absent with `--serve`") { $0.milliseconds },
        Fact("clientExit", shown: "exit code", "The client's exit code, or 128 plus the signal that ended it") {
            $0.clientExit.map { Int($0) }
        },
    ]

    private static let place: [Fact<Outcome>] = [
        Fact("host", "The named host; absent without `--host`") { $0.host }, connection,
        Fact("protocol", shown: "protocol", "The protocol that ALPN selected: `h2` or `http/1.1`; absent without ALPN")
        {
            $0.observation.applicationProtocol
        },
    ]

    private static let judgement: [Fact<Outcome>] = [
        Fact("clientCertificate", "True if the server got the certificate of `{identity}`; otherwise absent") {
            $0.observation.hasClientCertificate ? true : nil
        },
        Fact("remark", "The reason why there is no verdict, or why the attack was not run") { $0.remark },
        Fact("isAsItMustBe", "True for the expected outcome; absent for an attack that was not run") {
            $0.verdict == .notRun ? nil : $0.isAsItMustBe
        },
    ]
}
