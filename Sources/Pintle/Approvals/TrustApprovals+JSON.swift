#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension TrustApprovals {
    /// The version of the format that is written, and the only one that is read.
    static let formatVersion: Int64 = 1

    /// The largest file that is read or written, in bytes: some fifty thousand approvals.
    package static let maximumFileSize = 16 << 20

    /// The approvals as a file, UTF-8: what ``init(json:)`` reads as equal approvals.
    ///
    /// One spelling for equal approvals: in the order of hosts and ports, one key a member, dates in UTC.
    public func json() -> [UInt8] {
        var json = JSONWriter(.pretty)
        json.object {
            $0.member("version", Int(Self.formatVersion))
            $0.member("generation", Int64(clamping: revision))
            $0.array("approvals") { for approval in all { approval.write(to: &$0) } }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Reads a file of approvals: JSON, UTF-8 without a byte-order mark, at most 16 MiB.
    ///
    /// Strict, as everything that decides whom to trust: unknown keys, duplicate keys, two approvals for one host and
    /// port, dates that do not exist are errors. No part of a file with an error is used.
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
    /// `{host, port, certificate | spki, accepts, approvedAt, expiresAt?, note?, revokedAt?}`
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
