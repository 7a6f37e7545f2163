import PintleTestKit
import Testing

@testable import Pintle
@testable import PintlePolicyFile

/// The shape of a JSON document in a public specification: required members, optional members, and no others.
indirect enum JSONShape: Sendable {
    case text(@Sendable (String) -> Bool)
    case number(ClosedRange<Int64>)
    case boolean
    case null
    case either(JSONShape, JSONShape)
    case list(JSONShape, count: ClosedRange<Int>)
    case object([String: JSONShape], optional: [String: JSONShape] = [:])
    /// An object whose members may have any names.
    case map(JSONShape)

    static let anyText = JSONShape.text { _ in true }
    static func word(_ words: String...) -> JSONShape { .text { words.contains($0) } }

    /// Returns the deviations of a value from the shape, each with its path.
    func complaints(_ value: JSONValue, _ path: String = "$") -> [String] {
        switch self {
        case .text(let isFine):
            guard let text = value.string else { return ["\(path): no string"] }
            return isFine(text) ? [] : ["\(path): \(text)"]
        case .number(let range):
            return value.integer.map { range.contains($0) } == true ? [] : ["\(path): no integer in \(range)"]
        case .boolean: return value.boolean == nil ? ["\(path): no boolean"] : []
        case .null: return value.isNull ? [] : ["\(path): not null"]
        case .either(let one, let other):
            let complaints = one.complaints(value, path)
            return complaints.isEmpty ? [] : other.complaints(value, path)
        case .list(let element, let count):
            guard let elements = value.elements, count.contains(value.count) else { return ["\(path): no such list"] }
            return elements.enumerated().flatMap { element.complaints($0.element, "\(path)[\($0.offset)]") }
        case .map(let element):
            guard let members = value.members else { return ["\(path): no object"] }
            return members.flatMap { element.complaints($0.value, "\(path).\($0.key.string ?? "")") }
        case .object(let required, let optional):
            guard let members = value.members else { return ["\(path): no object"] }
            var missing = Set(required.keys)
            var complaints: [String] = []
            for member in members {
                let key = member.key.string ?? ""
                missing.remove(key)
                guard let shape = required[key] ?? optional[key] else {
                    complaints.append("\(path).\(key): unknown")
                    continue
                }
                complaints += shape.complaints(member.value, "\(path).\(key)")
            }
            return complaints + missing.sorted().map { "\(path).\($0): missing" }
        }
    }
}

// Written from the specifications, not copied from a schema.
extension JSONShape {
    /// Returns the shape of RFC 7469 section 3, with the members that this package adds.
    static func report(isSent: Bool = true) -> JSONShape {
        let date = JSONShape.text { (try? RFC3339.date(from: $0)) != nil && $0.hasSuffix("Z") }
        let certificates = JSONShape.list(
            .text { text in
                // RFC 7468: the form that other PEM readers accept.
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                return lines.first == "-----BEGIN CERTIFICATE-----"
                    && lines.dropLast().last == "-----END CERTIFICATE-----"
                    && lines.last == "" && lines.dropFirst().dropLast(2).allSatisfy { $0.utf8.count <= 64 }
            }, count: 0...256)
        var required: [String: JSONShape] = [
            "date-time": date, "hostname": .anyText, "port": .number(1...65_535),
            "effective-expiration-date": .either(.null, date), "include-subdomains": .boolean,
            "noted-hostname": .anyText, "served-certificate-chain": certificates,
            "validated-certificate-chain": certificates,
            // known-pin = token "=" quoted-string, the directive of section 2.1.
            "known-pins": .list(
                .text { pin in
                    let parts = pin.split(separator: "=", maxSplits: 1)
                    return parts.count == 2 && ["pin-sha256", "certificate-sha256"].contains(parts[0])
                        && parts[1].hasPrefix("\"") && parts[1].hasSuffix("=\"") && parts[1].utf8.count == 46
                }, count: 0...10_000),
            "enforcement": .word("enforce", "reportOnly"),
            "reason": .word("pin-mismatch", "pins-expired", "mismatch-reported-only", "invalid-path"),
            "policy-version": .number(0...(1 << 53)),
        ]
        if isSent { required["age"] = .number(0...Int64.max) }
        return .object(required, optional: ["path-failure": .anyText, "app": .map(.anyText)])
    }

    /// W3C Reporting API section 3.3 (serialize reports): a list of reports, sent as `application/reports+json`.
    static let reportingAPI = JSONShape.list(
        .object([
            "age": .number(0...Int64.max), "type": .word("certificate-issue"),
            "url": .text { $0.hasPrefix("https://") && $0.hasSuffix("/") }, "user_agent": .anyText, "body": .report(),
        ]), count: 1...1)

    /// OTLP 1 in JSON: `ExportLogsServiceRequest` of opentelemetry-proto's logs_service.proto, logs.proto and
    /// common.proto, by the JSON mapping of protocol buffers with OTLP's exceptions (camel case, enumerations as
    /// numbers, 64-bit integers as strings).
    static let exportLogs: JSONShape = {
        let value = JSONShape.either(
            .object(["stringValue": .anyText]), .object(["intValue": .text { Int64($0) != nil }]))
        let attributes = JSONShape.list(.object(["key": .anyText, "value": value]), count: 0...128)
        let time = JSONShape.text { UInt64($0).map { $0 > 1_000_000_000_000_000_000 } == true }
        let record = JSONShape.object(
            [
                "timeUnixNano": time, "observedTimeUnixNano": time, "severityNumber": .number(1...24),
                "severityText": .anyText, "body": value, "attributes": attributes,
            ],
            optional: [
                "eventName": .anyText, "droppedAttributesCount": .number(0...100), "flags": .number(0...255),
                "traceId": .anyText, "spanId": .anyText,
            ])
        let scope = JSONShape.object(["name": .anyText], optional: ["version": .anyText, "attributes": attributes])
        let scopeLogs = JSONShape.object(
            ["scope": scope, "logRecords": .list(record, count: 1...1)], optional: ["schemaUrl": .anyText])
        return .object([
            "resourceLogs": .list(
                .object(
                    [
                        "resource": .object(["attributes": attributes]), "scopeLogs": .list(scopeLogs, count: 1...1),
                    ], optional: ["schemaUrl": .anyText]), count: 1...1)
        ])
    }()
}
