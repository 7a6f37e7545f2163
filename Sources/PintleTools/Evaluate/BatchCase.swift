internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleText

/// One case of a batch: `{id, host, port?, chain, anchors?, at?, policy?}`.
struct BatchCase {
    let id: JSONValue
    let endpoint: ServerEndpoint
    /// The certificates in DER, the leaf first, or the reason why they were not decoded.
    let chain: Result<[[UInt8]], PathFailure>
    let instant: Date?
    private(set) var anchors: JSONValue?
    private(set) var policy: JSONValue?

    /// Reads the line's object, but not yet the anchors and the policy.
    init(_ root: JSONValue) throws(ToolError) {
        guard let members = root.members else {
            throw .unusable("wrong-type", "a case is an object", at: root.place, hint: Self.shape)
        }
        var id: JSONValue?
        var host: JSONValue?
        var chain: JSONValue?
        var port: JSONValue?
        var at: JSONValue?
        for member in members {
            let value = member.value.isNull ? nil : member.value
            switch member.key.string {
            // Null is an id like any other.
            case "id": id = member.value
            case "host": host = value
            case "chain": chain = value
            case "port": port = value
            case "anchors": anchors = value
            case "at": at = value
            case "policy": policy = value
            case let name:
                let name = JSONWriter.quoted(name ?? "")
                throw .unusable("unknown-key", "unknown key \(name)", at: member.key.place, hint: Self.shape)
            }
        }
        guard let id else { throw Self.missing("id", root) }
        guard Self.isScalar(id) else {
            throw .unusable("wrong-type", "id is neither a string, a number, a boolean nor null", at: id.place)
        }
        guard let host else { throw Self.missing("host", root) }
        guard let chain else { throw Self.missing("chain", root) }
        self.id = id
        endpoint = ServerEndpoint(host: try Self.host(host), port: try port.map(Self.port) ?? 443)
        instant = try at.map(Self.instant)
        self.chain = try Self.chain(chain)
    }

    private static let shape = "a case is {id, host, port?, chain, anchors?, at?, policy?}"

    private static func missing(_ key: String, _ root: JSONValue) -> ToolError {
        .unusable("missing-key", "the case has no \"\(key)\"", at: root.place, hint: shape)
    }

    static func isScalar(_ value: JSONValue) -> Bool { value.kind != .object && value.kind != .array }

    private static func host(_ value: JSONValue) throws(ToolError) -> ServerName {
        guard let name = value.string else { throw wrongType("host", "a string", value) }
        do {
            return try ServerName(name)
        } catch {
            throw .unusable("invalid-host", error.description, at: value.place, hint: error.hint)
        }
    }

    private static func port(_ value: JSONValue) throws(ToolError) -> UInt16 {
        guard let number = value.integer.flatMap(UInt16.init(exactly:)), number > 0 else {
            throw .unusable("invalid-port", "port is not an integer from 1 to 65535", at: value.place)
        }
        return number
    }

    private static func wrongType(_ key: String, _ kind: String, _ value: JSONValue) -> ToolError {
        .unusable("wrong-type", "\(key) is not \(kind)", at: value.place)
    }

    private static func instant(_ value: JSONValue) throws(ToolError) -> Date {
        guard let text = value.string else { throw wrongType("at", "a string", value) }
        do {
            return try RFC3339.date(from: text)
        } catch {
            throw .unusable(
                "invalid-date", "at: \(JSONWriter.quoted(text)) is \(error.message)", at: value.place, hint: error.hint)
        }
    }

    /// Decodes the chain. The bytes inside the PEM need not be a certificate: the decision reports that. A chain that
    /// the decision refuses for its size is not decoded.
    private static func chain(_ value: JSONValue) throws(ToolError) -> Result<[[UInt8]], PathFailure> {
        guard let elements = value.elements else { throw wrongType("chain", "an array of PEM certificates", value) }
        let limit = PresentedChain.Limits().count
        guard value.count <= limit else {
            return .failure(
                PathFailure(.limitsExceeded, text: "\(value.count) certificates, more than \(limit)"))
        }
        var chain: [[UInt8]] = []
        for element in elements {
            guard let der = try pem(element, "chain[\(chain.count)]") else {
                return .failure(
                    PathFailure(
                        .limitsExceeded, depth: chain.count,
                        text: "a certificate of more than \(Certificate.maximumSize) bytes"))
            }
            chain.append(der)
        }
        return .success(chain)
    }

    /// Reads the anchors. Each must be a certificate, because a dropped one would change the verdict without a message.
    static func anchors(_ value: JSONValue) throws(ToolError) -> [Certificate] {
        guard let elements = value.elements else { throw wrongType("anchors", "an array of PEM certificates", value) }
        var certificates: [Certificate] = []
        for element in elements {
            let name = "anchors[\(certificates.count)]"
            guard let der = try pem(element, name) else {
                throw .unusable(
                    "invalid-anchor", "\(name) has more than \(Certificate.maximumSize) bytes", at: element.place)
            }
            do {
                certificates.append(try Certificate(der: der))
            } catch {
                throw .unusable("invalid-anchor", "\(name) is not a certificate: \(error)", at: element.place)
            }
        }
        return certificates
    }

    /// Returns the content of one CERTIFICATE block; `nil` if it is larger than any certificate may be.
    private static func pem(_ value: JSONValue, _ name: String) throws(ToolError) -> [UInt8]? {
        guard let text = value.stringBytes else { throw wrongType(name, "a string", value) }
        let hint = "each element is one certificate: -----BEGIN CERTIFICATE-----\\n...\\n-----END CERTIFICATE-----\\n"
        let blocks: [PEMBlock]
        do {
            blocks = try PEMReader.blocks(in: text, maximumBlockSize: Certificate.maximumSize)
        } catch {
            if case .tooLarge = error.reason { return nil }
            throw .unusable(
                "malformed-pem", "\(name), line \(error.line): \(error.message)", at: value.place, hint: hint)
        }
        guard blocks.count == 1, let block = blocks.first, block.isCertificate else {
            let found = blocks.isEmpty ? "no PEM" : blocks.map(\.label).prefix(3).joined(separator: ", ")
            throw .unusable("malformed-pem", "\(name) holds \(found), not one CERTIFICATE", at: value.place, hint: hint)
        }
        return block.bytes
    }
}

extension ToolError {
    /// The first problem of a case's policy.
    init(inBatch error: PolicyError) {
        let others = error.problems.count - 1
        let more = others > 0 ? " (and \(ValidityText.counted(others, "other problem")))" : ""
        let first = error.problems.first
        let place = first.map { $0.path.isEmpty ? "policy: " : "policy.\($0.path): " } ?? "policy: "
        self = .unusable(
            first?.id ?? "invalid-policy", place + (first?.message ?? "") + more, column: first?.column,
            hint: first?.help)
    }
}
