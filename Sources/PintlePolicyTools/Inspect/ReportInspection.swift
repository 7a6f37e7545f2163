internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleReports
internal import PintleSystem
internal import PintleText

/// The claims of failure reports, in any of their encodings. Nothing is verified: any sender can make one up.
struct ReportInspection {
    let file: InputFile
    let reports: [JSONValue]
    let invocation: Invocation

    /// Returns the objects in a document that holds reports: a single one, one of a spool, a list of the Reporting API,
    /// or a request of log records; `nil` for any other document.
    static func reports(in root: JSONValue) -> [JSONValue]? {
        if root["served-certificate-chain"] != nil { return [root] }
        // A report in a spool, beside the addresses that it goes to.
        if let spooled = root["report"], spooled["served-certificate-chain"] != nil { return [spooled] }
        if let elements = root.elements {
            let issues = elements.filter { $0["type"]?.string == "certificate-issue" }.compactMap { $0["body"] }
            return issues.isEmpty ? nil : issues
        }
        guard let resources = root["resourceLogs"]?.elements else { return nil }
        let scopes = resources.flatMap { elements(of: $0["scopeLogs"]) }
        let records = scopes.flatMap { elements(of: $0["logRecords"]) }
        return records.compactMap { record -> JSONValue? in
            guard let text = record["body"]?["stringValue"]?.stringBytes,
                let object = try? JSONDocument(text, limits: .init(allowsAnyNumber: true)).root,
                object["served-certificate-chain"] != nil
            else { return nil }
            return object
        }
    }

    private static func elements(of list: JSONValue?) -> [JSONValue] { list?.elements.map(Array.init) ?? [] }

    /// - Throws: an error if a report lacks a member that every report has.
    func show() throws(ToolError) {
        var read: [TrustFailureReport] = []
        for (index, value) in reports.enumerated() {
            guard let report = TrustFailureReport(value) else {
                throw .unusable(
                    "malformed-report", "report \(index + 1) lacks a member, or has one of another type",
                    file: file.name, hint: "the members: RFC 7469 section 3, and the article \"Failure reports\"")
            }
            read.append(report)
        }
        guard !invocation.writesJSON else { return invocation.console.print(document(read)) }
        var report = Report(
            "\(file.name)   \(ValidityText.counted(read.count, "failure report")); nothing was verified")
        for failure in read { Self.add(failure, to: &report) }
        invocation.print(report)
    }

    private static func add(_ failure: TrustFailureReport, to report: inout Report) {
        report.gap()
        report.layout.labelColumns = 13
        report.fact("what", "\(failure.reason)\(failure.pathFailure.map { ", \($0)" } ?? "")")
        report.fact("when", "\(RFC3339.string(from: failure.dateTime))")
        report.fact("server", "\(failure.hostname), port \(failure.port)")
        let cover = failure.includeSubdomains ? " and its sub-domains" : ""
        let mode = failure.enforcement == .enforce ? "enforced" : "reported only"
        report.fact("rule", "\(failure.notedHostname)\(cover), \(mode)")
        report.fact(
            "policy", failure.policyVersion == 0 ? "as shipped, no update" : "update \(failure.policyVersion)")
        report.fact("pins expire", "\(failure.effectiveExpirationDate.map { RFC3339.string(from: $0) } ?? "never")")
        for pin in failure.knownPins { report.fact("wanted", "\(pin)") }
        add(failure.servedCertificateChain, "served", to: &report)
        add(failure.validatedCertificateChain, "validated", to: &report)
        for (key, value) in (failure.app ?? [:]).sorted(by: { $0.key < $1.key }) {
            report.fact("app", "\(key): \(value)")
        }
    }

    private static func add(_ chain: [String], _ label: Line, to report: inout Report) {
        if chain.isEmpty { report.fact(label, "nothing") }
        for text in chain {
            guard let certificate = certificate(text) else {
                report.fact(label, "a certificate that cannot be read")
                continue
            }
            report.fact(label, "\(certificate.publicKeyPin)  \(claim: certificate.subject)")
        }
    }

    private static func certificate(_ pem: String) -> Certificate? {
        (try? CertificateBundle(pem: pem))?.certificates.first
    }

    private func document(_ read: [TrustFailureReport]) -> JSONWriter {
        .document { json in
            json.member("source", file.path)
            json.member("kind", "report")
            json.member("verified", false)
            json.objects("reports", zip(read, reports)) { json, report in
                json.key("report")
                json.value(verbatim: report.1.source)
                json.member("servedPins", Self.pins(report.0.servedCertificateChain))
                json.member("validatedPins", Self.pins(report.0.validatedCertificateChain))
            }
        }
    }

    /// Returns the pins of the certificates that can be read.
    private static func pins(_ chain: [String]) -> [String] {
        chain.compactMap { certificate($0)?.publicKeyPin.description }
    }
}
