internal import Pintle
internal import PintlePolicyFile

/// The content of a report's file: the report and its addresses.
package struct SpooledReport: Sendable, Hashable {
    /// The addresses, `https` URLs.
    package let addresses: [String]
    package let report: TrustFailureReport
    /// A Boolean value that indicates whether the server was refused.
    package let isRefused: Bool

    package static let maximumAddresses = 16
    package static let maximumBytes = 256 << 10

    package init(addresses: [String], report: TrustFailureReport, isRefused: Bool) {
        self.addresses = addresses
        self.report = report
        self.isRefused = isRefused
    }

    package var json: [UInt8] {
        var json = JSONWriter(.compact)
        json.object { json in
            json.member("to", addresses)
            json.member("refused", isRefused)
            json.key("report")
            report.write(to: &json, age: nil)
        }
        return json.bytes
    }

    /// Parses the file; `nil` if a spool did not write it.
    package init?(json: [UInt8]) {
        let limits = JSONDocument.Limits(maximumBytes: Self.maximumBytes, maximumDepth: 8)
        guard let root = try? JSONDocument(json, limits: limits).root, let elements = root["to"]?.elements,
            let report = root["report"].flatMap({ TrustFailureReport($0) }), let isRefused = root["refused"]?.boolean
        else { return nil }
        let addresses = elements.compactMap(\.string)
        guard 1...Self.maximumAddresses ~= addresses.count, addresses.count == root["to"]?.count,
            addresses.allSatisfy({ ServerEndpoint(httpsURL: $0) != nil })
        else { return nil }
        self.init(addresses: addresses, report: report, isRefused: isRefused)
    }
}
