internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleTestKit
internal import PintleText

/// The files of `--evidence`: for each attack the certificates that its servers presented, and a transcript of its
/// connections.
struct RehearsalEvidenceFiles {
    let report: RehearsalReport
    /// A Boolean value that indicates whether requests are written as they came.
    let showsContent: Bool

    func write(to folder: EvidenceFolder) throws(ToolError) {
        try folder.write("authorities.pem", Array(report.anchorsPEM.utf8))
        try folder.write("results.json", report.document.bytes)
        for outcome in report.all where outcome.verdict != .notRun {
            let place = (outcome.host.map { $0 + "/" } ?? "") + outcome.scenario.id
            for chain in outcome.scenario.chains { try write(chain, place, to: folder) }
            try folder.write("\(place)/transcript.txt", Array(transcript(outcome).utf8))
            guard showsContent else { continue }
            for (index, transcript) in outcome.transcripts.enumerated() where !transcript.received.isEmpty {
                try folder.write("\(place)/received-\(index + 1).bin", transcript.received)
            }
        }
        try folder.finish()
    }

    /// Writes a chain as PEM, and bytes that are no certificate as they were sent.
    private func write(_ chain: Scenario.Chain, _ place: String, to folder: EvidenceFolder) throws(ToolError) {
        guard chain.certificates.allSatisfy({ (try? Certificate(der: $0)) != nil }) else {
            for (index, der) in chain.certificates.enumerated() {
                try folder.write("\(place)/presented-\(chain.place)-\(index + 1).der", der)
            }
            return
        }
        try folder.write(
            "\(place)/presented-\(chain.place).pem", Array(chain.certificates.map { PEM.encode($0) }.joined().utf8))
    }

    private func transcript(_ outcome: Outcome) -> String {
        var lines = [
            "attack: \(outcome.scenario.id): \(outcome.scenario.summary)", "reference: \(outcome.scenario.reference)",
            "must be \(outcome.scenario.expectation.rawValue), was \(outcome.verdict.word), "
                + ValidityText.counted(outcome.observation.exposedByteCount, "request byte"),
        ]
        if let why = outcome.why { lines.append(SafeText.escape(why)) }
        if let number = outcome.connection { lines.append("decided by connection \(number)") }
        for (index, transcript) in outcome.transcripts.enumerated() {
            lines += ["", "connection \(index + 1): \(Self.facts(transcript.record))"]
            lines += (transcript.record?.alertsReceived ?? []).map { "  alert from the client: \($0)" }
            lines += (transcript.record?.alertsSent ?? []).map { "  alert to the client: \($0)" }
            let (requests, rest) = transcript.requests
            for request in requests {
                lines += RequestTranscript(request, showsContent: showsContent).lines.map { "  > " + $0 }
            }
            if !rest.isEmpty { lines.append("  > no request: \(RequestTranscript.replacement(rest))") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func facts(_ record: TLSConnectionRecord?) -> String {
        guard let record else { return "plain HTTP" }
        guard record.clearByteCount == 0 else { return "no TLS" }
        var facts: [String] = []
        if let name = record.serverName { facts.append("server name \(SafeText.escape(name))") }
        if let version = record.version { facts.append(version.name) }
        if let name = record.applicationProtocol { facts.append("ALPN \(SafeText.escape(name))") }
        facts.append(
            record.isHandshakeComplete
                ? "handshake finished"
                : "no handshake: \(SafeText.escape(record.handshakeFailure ?? "the client hung up"))")
        return facts.joined(separator: ", ")
    }

}

extension LoopbackTLSServer.Version {
    var name: String {
        switch self {
        case .tls10: "TLS 1.0"
        case .tls11: "TLS 1.1"
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }
}
