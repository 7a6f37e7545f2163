public import Pintle

extension TrustApprovals {
    /// The format version that is written, and the only one that can be read.
    static let formatVersion: Int64 = 1

    /// The maximum size of a file in bytes, for reading and writing: about 50,000 approvals.
    package static let maximumFileSize = 16 << 20

    /// Returns the approvals as a UTF-8 file that ``init(json:)`` reads back as equal approvals.
    ///
    /// Equal approvals give equal bytes: sorted by host and port, fixed order of keys, dates in UTC.
    public func json() -> [UInt8] {
        var json = JSONWriter(.pretty)
        json.object {
            $0.member("version", Int(Self.formatVersion))
            $0.member("generation", Int64(clamping: revision))
            $0.array("approvals") { for approval in all { approval.write(to: &$0) } }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Reads an approvals file: JSON, UTF-8 without a byte-order mark, at most 16 MiB.
    ///
    /// The parser is strict, because the file decides about trust. Unknown keys, duplicate keys, two approvals for one
    /// host and port, and dates that do not exist are errors. No part of a file with an error is used.
    public init(json: [UInt8]) throws(ApprovalFileError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(json, limits: .init(maximumBytes: Self.maximumFileSize, maximumDepth: 4))
        } catch {
            throw ApprovalFileError(error)
        }
        self = try ApprovalFileReader.read(document.root)
    }
}

extension TrustApproval {
    /// Writes the object `{host, port, certificate | spki, accepts, approvedAt, expiresAt?, note?, revokedAt?}`.
    package func write(to json: inout JSONWriter) {
        json.object {
            $0.member("host", endpoint.host.description)
            $0.member("port", Int(endpoint.port))
            switch subject {
            case .certificate(let pin): $0.member("certificate", pin.description)
            case .publicKey(let pin): $0.member("spki", pin.description)
            }
            $0.member("accepts", AcceptedFailure.ordered.filter(accepts.contains).map(\.rawValue))
            $0.member("approvedAt", RFC3339.string(from: approvedAt))
            $0.member("expiresAt", expiresAt.map { RFC3339.string(from: $0) })
            $0.member("note", note)
            $0.member("revokedAt", revokedAt.map { RFC3339.string(from: $0) })
        }
    }
}
