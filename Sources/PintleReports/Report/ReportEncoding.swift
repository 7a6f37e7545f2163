internal import Pintle
internal import PintlePolicyFile

/// The format of a report for the collector at an address.
public enum ReportEncoding: String, Sendable, Hashable, CaseIterable {
    /// The JSON object of RFC 7469 section 3, as `application/json`.
    case rfc7469
    /// The W3C Reporting API: an array with one report of type `certificate-issue`. Its body is the RFC 7469 object.
    /// Sent as `application/reports+json`.
    case reportingAPI
    /// An OTLP/HTTP request with one log record, as `application/json`. The record's body is the RFC 7469 object as
    /// text.
    case otlp

    package var contentType: String {
        switch self {
        case .rfc7469, .otlp: "application/json"
        case .reportingAPI: "application/reports+json"
        }
    }

    /// Returns the body of the request that sends a report.
    ///
    /// - Parameters:
    ///   - report: the report.
    ///   - id: the id of the report, 32 hexadecimal digits; the same for each retry.
    ///   - age: the milliseconds since the failure.
    ///   - isRefused: `true` if the server was refused. For expired pins the reason does not say this.
    /// - Returns: at most ``TrustFailureReport/maximumBytes``; certificates are left out if necessary. `nil` if that is
    ///   not enough.
    package func body(of report: TrustFailureReport, id: String, age: Int64, isRefused: Bool) -> [UInt8]? {
        var report = report
        let fits = report.fit(size: { write($0, id, age, isRefused).count })
        return fits ? write(report, id, age, isRefused) : nil
    }

    private func write(_ report: TrustFailureReport, _ id: String, _ age: Int64, _ isRefused: Bool) -> [UInt8] {
        var json = JSONWriter(.compact)
        switch self {
        case .rfc7469: report.write(to: &json, age: age)
        case .reportingAPI: Self.writeReportingAPI(report, age, to: &json)
        case .otlp: Self.writeLogs(report, id, age, isRefused, to: &json)
        }
        return json.bytes
    }

    private static func writeReportingAPI(_ report: TrustFailureReport, _ age: Int64, to json: inout JSONWriter) {
        json.array { json in
            json.object { json in
                json.member("type", "certificate-issue")
                json.member("age", age)
                let host = report.hostname.utf8.contains(UInt8(ascii: ":")) ? "[\(report.hostname)]" : report.hostname
                let port = report.port == 443 ? "" : ":\(report.port)"
                // Without the path: the requested resource is private.
                json.member("url", "https://\(host)\(port)/")
                json.member("user_agent", ReportRequest.userAgent)
                json.key("body")
                report.write(to: &json, age: age)
            }
        }
    }

    private static func writeLogs(
        _ report: TrustFailureReport, _ id: String, _ age: Int64, _ isRefused: Bool, to json: inout JSONWriter
    ) {
        func attribute(_ key: String, _ value: String?, _ json: inout JSONWriter) {
            guard let value else { return }
            json.object {
                $0.member("key", key)
                $0.object("value") { $0.member("stringValue", value) }
            }
        }
        func attribute(_ key: String, _ value: Int, _ json: inout JSONWriter) {
            json.object {
                $0.member("key", key)
                // The JSON form of protocol buffers writes 64-bit integers as strings.
                $0.object("value") { $0.member("intValue", "\(value)") }
            }
        }
        let nanoseconds = "\(Milliseconds(report.dateTime))000000"
        json.object { json in
            json.array("resourceLogs") { json in
                json.object { json in
                    json.object("resource") { json in
                        json.array("attributes") { json in
                            attribute("service.name", report.app?["name"] ?? "unknown_service", &json)
                            attribute("service.version", report.app?["version"], &json)
                        }
                    }
                    json.array("scopeLogs") { json in
                        json.object { json in
                            json.object("scope") { $0.member("name", "pintle") }
                            json.array("logRecords") { json in
                                json.object { json in
                                    json.member("timeUnixNano", nanoseconds)
                                    json.member("observedTimeUnixNano", nanoseconds)
                                    json.member("severityNumber", isRefused ? 17 : 13)
                                    json.member("severityText", isRefused ? "ERROR" : "WARN")
                                    json.member("eventName", "pintle.pin_failure")
                                    json.object("body") {
                                        $0.member(
                                            "stringValue",
                                            String(decoding: report.json(age: age), as: UTF8.self))
                                    }
                                    json.array("attributes") { json in
                                        attribute("log.record.uid", id, &json)
                                        attribute("server.address", report.hostname, &json)
                                        attribute("server.port", Int(report.port), &json)
                                        attribute("pintle.decision", isRefused ? "rejected" : "trusted", &json)
                                        attribute("pintle.reason", report.reason, &json)
                                        attribute("pintle.enforcement", report.enforcement.rawValue, &json)
                                        attribute("pintle.noted_hostname", report.notedHostname, &json)
                                        attribute("pintle.path_failure", report.pathFailure, &json)
                                        attribute("pintle.policy_version", report.policyVersion, &json)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
