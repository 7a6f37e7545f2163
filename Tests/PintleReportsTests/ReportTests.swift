import FoundationEssentials
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintlePolicyFile
@testable import PintleReports

@Suite("The report object")
struct ReportTests {
    private let scene: ReportScene

    init() throws {
        scene = try ReportScene()
    }

    @Test("A report has the server, the rule, both chains and the pins")
    func content() throws {
        let expiry = ReportScene.now.addingTimeInterval(86_400)
        let policy = try scene.policy(expiry: .rejecting(after: expiry), version: 7)
        let failure = try scene.failure("api.example.com", port: 8_443, by: policy)
        let report = try #require(TrustFailureReport(failure, app: ["name": "Test"]))
        #expect(report.dateTime == ReportScene.now && report.hostname == "api.example.com" && report.port == 8_443)
        #expect(report.effectiveExpirationDate == expiry && report.includeSubdomains)
        #expect(report.notedHostname == "example.com" && report.reason == "pin-mismatch")
        #expect(report.enforcement == .enforce && report.pathFailure == nil && report.policyVersion == 7)
        #expect(
            report.servedCertificateChain == scene.identity.chain.map { PEMBlock.text(label: "CERTIFICATE", bytes: $0) }
        )
        // The validated path also has the root, which the server did not send.
        #expect(report.validatedCertificateChain.count == report.servedCertificateChain.count + 1)
        #expect(report.validatedCertificateChain.last == scene.authority.certificate.pem)
        let digest = CertificatePin(certificate: scene.authority.certificate.der).bytes
        #expect(report.knownPins.last == "certificate-sha256=\"\(Base64.encode(digest))\"")
        #expect(report.app == ["name": "Test"])

        // Parsing the written report gives an equal one.
        #expect(try TrustFailureReport(JSONDocument(report.json(age: 5)).root) == report)
        var bare = report
        (bare.app, bare.pathFailure, bare.effectiveExpirationDate) = (nil, "expired", nil)
        #expect(try TrustFailureReport(JSONDocument(bare.json()).root) == bare)
    }

    @Test("A report with a missing or mistyped member is refused")
    func reading() throws {
        let report = try #require(TrustFailureReport(try scene.failure()))
        let text = String(decoding: report.json(), as: UTF8.self)
        func read(_ old: String, _ new: String) throws -> TrustFailureReport? {
            try #require(text.contains(old), "\(old)")
            return TrustFailureReport(try JSONDocument(Array(text.replacing(old, with: new).utf8)).root)
        }
        #expect(try read("\"port\":443", "\"port\":443") == report)
        for (old, new) in [
            ("\"port\":443", "\"port\":70000"), ("\"port\":443", "\"port\":\"443\""), ("\"hostname\"", "\"host\""),
            ("\"effective-expiration-date\":null", "\"effective-expiration-date\":\"soon\""),
            ("\"effective-expiration-date\":null,", ""), ("\"enforce\"", "\"maybe\""),
            ("\"known-pins\":[", "\"known-pins\":[1,"), ("2027-01-15T", "2027-02-30T"),
        ] { #expect(try read(old, new) == nil, "\(old) -> \(new)") }
    }

    @Test("A failure for a host without a rule gives no report")
    func noRule() throws {
        let policy = try scene.policy()
        let evaluation = policy.evaluate(
            ServerEndpoint(host: try ServerName("elsewhere.example.net")), presented: scene.identity.chain,
            at: ReportScene.now
        ) { _ in .invalid(PathFailure(.other, text: "")) }
        let failure = try #require(VerdictEvent(evaluation, by: policy, at: ReportScene.now))
        #expect(failure.reason == "host-not-allowed" && TrustFailureReport(failure) == nil)
    }

    @Test(
        "A report has at most 64 kB: certificates are removed first, then all pins or none",
        arguments: ReportEncoding.allCases)
    func size(encoding: ReportEncoding) throws {
        let many = Array(repeating: scene.authority.certificate.der, count: 120)
        let failure = try scene.failure(extra: many)
        var report = try #require(TrustFailureReport(failure))
        let fits = report.fit(size: { $0.json().count })
        #expect(fits)
        #expect(report.json().count <= 64_000 && report.json().count > 60_000)
        #expect((21..<121).contains(report.servedCertificateChain.count) && report.knownPins.count == 2)
        let body = try #require(encoding.body(of: report, id: "00", age: 1, isRefused: true))
        #expect(body.count <= 64_000 && body.count > 60_000)

        // More pins than fit.
        var pins = try #require(TrustFailureReport(try scene.failure()))
        for (count, shown) in [(600, 600), (5_000, 0)] {
            pins.knownPins = Array(repeating: pins.knownPins[0], count: count)
            let body = try #require(encoding.body(of: pins, id: "00", age: 1, isRefused: true))
            #expect(body.count <= 64_000)
            #expect(String(decoding: body, as: UTF8.self).split(separator: "pin-sha256").count - 1 == shown)
        }
        // A text from a redacting app that cannot be shortened.
        pins.hostname = String(repeating: "x", count: 70_000)
        #expect(encoding.body(of: pins, id: "00", age: 1, isRefused: true) == nil)
    }

    @Test("The app's description of itself is bounded")
    func app() throws {
        let failure = try scene.failure()
        let many = Dictionary(uniqueKeysWithValues: (10..<50).map { ("\($0)", "x") })
        #expect(TrustFailureReport(failure, app: many)?.app?.count == 16)
        let long = String(repeating: "x", count: 257)
        #expect(TrustFailureReport(failure, app: ["a": long, long: "b"])?.app == nil)
        #expect(TrustFailureReport(failure, app: ["a": String(long.dropLast())])?.app?.count == 1)
    }
}

@Suite("The encodings of a report")
struct ReportEncodingTests {
    private let scene: ReportScene
    private let id = String(repeating: "0a", count: 16)

    init() throws {
        scene = try ReportScene()
    }

    private func report() throws -> TrustFailureReport {
        let policy = try scene.policy(expiry: .systemTrust(after: ReportScene.now.addingTimeInterval(60)), version: 3)
        return try #require(
            TrustFailureReport(try scene.failure("a.example.com", by: policy), app: ["name": "Test", "version": "2"]))
    }

    private func document(
        _ encoding: ReportEncoding, _ report: TrustFailureReport, isRefused: Bool = true
    ) throws -> JSONValue {
        let body = try #require(encoding.body(of: report, id: id, age: 1_234, isRefused: isRefused))
        return try JSONDocument(body).root
    }

    @Test("The plain encoding is the object of RFC 7469")
    func plain() throws {
        let root = try document(.rfc7469, report())
        #expect(JSONShape.report().complaints(root).isEmpty, "\(JSONShape.report().complaints(root))")
        #expect(root["age"]?.integer == 1_234 && ReportEncoding.rfc7469.contentType == "application/json")
    }

    @Test("The Reporting API encoding matches the W3C specification and contains no path")
    func reportingAPI() throws {
        var report = try report()
        let root = try document(.reportingAPI, report)
        #expect(JSONShape.reportingAPI.complaints(root).isEmpty, "\(JSONShape.reportingAPI.complaints(root))")
        let first = try #require(root.elements.map(Array.init)?.first)
        #expect(first["url"]?.string == "https://a.example.com/" && first["age"]?.integer == 1_234)
        #expect(ReportEncoding.reportingAPI.contentType == "application/reports+json")
        (report.hostname, report.port) = ("2001:db8::1", 8_443)
        let second = try #require(try document(.reportingAPI, report).elements.map(Array.init)?.first)
        #expect(second["url"]?.string == "https://[2001:db8::1]:8443/")
    }

    @Test("The OTLP encoding is a request with a log record whose body is the object")
    func logs() throws {
        let report = try report()
        let root = try document(.otlp, report)
        #expect(JSONShape.exportLogs.complaints(root).isEmpty, "\(JSONShape.exportLogs.complaints(root))")
        let resource = try #require(root["resourceLogs"]?.elements.map(Array.init)?.first)
        let scope = try #require(resource["scopeLogs"]?.elements.map(Array.init)?.first)
        let record = try #require(scope["logRecords"]?.elements.map(Array.init)?.first)
        #expect(record["timeUnixNano"]?.string == "1800000000000000000")
        #expect(record["severityText"]?.string == "ERROR" && record["eventName"]?.string == "pintle.pin_failure")
        let text = try #require(record["body"]?["stringValue"]?.string)
        let object = try JSONDocument(Array(text.utf8)).root
        #expect(JSONShape.report().complaints(object).isEmpty && TrustFailureReport(object) == report)
        func attributes(_ value: JSONValue) -> [String: String] {
            var found: [String: String] = [:]
            for attribute in value["attributes"]?.elements.map(Array.init) ?? [] {
                let value = attribute["value"]
                found[attribute["key"]?.string ?? ""] = value?["stringValue"]?.string ?? value?["intValue"]?.string
            }
            return found
        }
        #expect(attributes(record)["log.record.uid"] == id && attributes(record)["server.port"] == "443")
        #expect(attributes(record)["pintle.reason"] == "pin-mismatch")
        #expect(try attributes(#require(resource["resource"]))["service.name"] == "Test")
    }

    @Test(
        "Expired pins are an error if the server was refused, and a warning if it was accepted",
        arguments: [true, false])
    func decision(isRefused: Bool) throws {
        var report = try report()
        report.reason = "pins-expired"
        let root = try document(.otlp, report, isRefused: isRefused)
        func first(_ value: JSONValue?, _ key: StaticString) throws -> JSONValue {
            let elements = value?[key]?.elements.map(Array.init)
            return try #require(elements?.first)
        }
        let record = try first(first(first(root, "resourceLogs"), "scopeLogs"), "logRecords")
        #expect(record["severityNumber"]?.integer == (isRefused ? 17 : 13))
        #expect(record["severityText"]?.string == (isRefused ? "ERROR" : "WARN"))
        let attribute = record["attributes"]?.elements?.first { $0["key"]?.string == "pintle.decision" }
        #expect(attribute?["value"]?["stringValue"]?.string == (isRefused ? "rejected" : "trusted"))
    }

    private static let engines: String? = {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        let python = root + "/.build/engines/bin/python"
        let has = try? runProcess([python, "-c", "import opentelemetry.proto.collector.logs.v1.logs_service_pb2"])
        return has?.status == 0 ? python : nil
    }()

    @Test(
        "The official messages of OTLP take the encoding, and refuse one with an unknown member",
        .enabled(if: engines != nil, "skipped: make engines installs opentelemetry-proto and runs this"))
    func officialMessages() throws {
        let python = try #require(Self.engines)
        let report = try report()
        let body = try #require(ReportEncoding.otlp.body(of: report, id: id, age: 5, isRefused: true))
        let script = """
            import sys
            from google.protobuf import json_format
            from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
            from opentelemetry.proto.logs.v1 import logs_pb2
            request = logs_service_pb2.ExportLogsServiceRequest()
            json_format.Parse(sys.stdin.read(), request, ignore_unknown_fields=False)
            record = request.resource_logs[0].scope_logs[0].log_records[0]
            values = {a.key: a.value.string_value or a.value.int_value for a in record.attributes}
            print(record.time_unix_nano, logs_pb2.SeverityNumber.Name(record.severity_number), record.event_name)
            print(values["log.record.uid"], values["server.port"], values["pintle.reason"], sep="\\n")
            print(record.body.string_value)
            """
        let parsed = try runProcess([python, "-c", script], input: body)
        #expect(parsed.status == 0, "\(parsed.errorOutput)")
        let lines = parsed.output.split(separator: "\n", maxSplits: 4).map { String($0) }
        #expect(lines.first == "1800000000000000000 SEVERITY_NUMBER_ERROR pintle.pin_failure")
        #expect(lines.dropFirst().prefix(3) == [id, "443", "pin-mismatch"])
        let object = try JSONDocument(Array((lines.last ?? "").utf8.dropLast())).root
        #expect(TrustFailureReport(object) == report)
        let other = String(decoding: body, as: UTF8.self).replacing("severityText", with: "severityTexts")
        #expect(try runProcess([python, "-c", script], input: Array(other.utf8)).status != 0)
    }

    @Test("The shape check finds extra, missing and mistyped members")
    func shapes() throws {
        let text = String(decoding: try report().json(age: 1), as: UTF8.self)
        for (old, new) in [
            ("\"port\":443", "\"port\":\"443\""), ("\"age\":1", "\"ages\":1"), ("\"age\":1,", ""),
            ("pin-sha256=\\\"", "sha256=\\\""), ("-----BEGIN CERT", "-----BEGIN  CERT"),
        ] {
            try #require(text.contains(old))
            let root = try JSONDocument(Array(text.replacing(old, with: new).utf8)).root
            #expect(!JSONShape.report().complaints(root).isEmpty, "\(old)")
        }
    }
}
