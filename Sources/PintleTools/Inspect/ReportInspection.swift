internal import Pintle
internal import PintleReports
internal import PintleSystem

/// The claims of failure reports, in any of their encodings. Nothing is verified: any sender can make one up.
struct ReportInspection {
    let file: InputFile
    let reports: [JSONValue]
    let invocation: Invocation

    /// Returns the objects in a document that holds reports: a single one, one of a spool, a list of the Reporting API, or
    /// a request of log records; `nil` for any other document.
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
        let console = invocation.console
        console.print(
            "\(SafeText.escape(file.name))   \(ValidityText.counted(read.count, "failure report")); nothing was verified"
        )
        for report in read { print(report) }
    }

    private func print(_ report: TrustFailureReport) {
        let console = invocation.console
        func field(_ label: String, _ value: String) {
            console.print("  " + TextLayout.padded(label, to: 13) + value)
        }
        console.print()
        let failure = report.pathFailure.map { ", \($0)" } ?? ""
        field("what", SafeText.escape("\(report.reason)\(failure)"))
        field("when", RFC3339.string(from: report.dateTime))
        field("server", SafeText.escape("\(report.hostname), port \(report.port)"))
        let cover = report.includeSubdomains ? " and its sub-domains" : ""
        let mode = report.enforcement == .enforce ? "enforced" : "reported only"
        field("rule", SafeText.escape("\(report.notedHostname)\(cover), \(mode)"))
        field("policy", report.policyVersion == 0 ? "as shipped, no update" : "update \(report.policyVersion)")
        field("pins expire", report.effectiveExpirationDate.map { RFC3339.string(from: $0) } ?? "never")
        for pin in report.knownPins { field("wanted", SafeText.escape(pin)) }
        show(report.servedCertificateChain, "served", field)
        show(report.validatedCertificateChain, "validated", field)
        for (key, value) in (report.app ?? [:]).sorted(by: { $0.key < $1.key }) {
            field("app", SafeText.escape("\(key): \(value)"))
        }
    }

    private func show(_ chain: [String], _ label: String, _ field: (String, String) -> Void) {
        if chain.isEmpty { field(label, "nothing") }
        for text in chain {
            guard let certificate = Self.certificate(text) else {
                field(label, "a certificate that cannot be read")
                continue
            }
            field(label, "\(certificate.publicKeyPin)  \(certificate.subject)")
        }
    }

    private static func certificate(_ pem: String) -> Certificate? {
        (try? CertificateBundle(pem: pem))?.certificates.first
    }

    private func document(_ read: [TrustFailureReport]) -> JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("source", file.path)
            json.member("kind", "report")
            json.member("verified", false)
            json.array("reports") { json in
                for (report, value) in zip(read, reports) {
                    json.object { json in
                        json.key("report")
                        json.value(verbatim: value.source)
                        json.member("servedPins", Self.pins(report.servedCertificateChain))
                        json.member("validatedPins", Self.pins(report.validatedCertificateChain))
                    }
                }
            }
        }
        return json
    }

    /// Returns the pins of the certificates that can be read.
    private static func pins(_ chain: [String]) -> [String] {
        chain.compactMap { certificate($0)?.publicKeyPin.description }
    }
}
