internal import Pintle
internal import PintleOpenSSL
internal import PintleSystem

/// One case of a batch: `{id, host, port?, chain, anchors?, at?, policy?}`.
struct BatchCase {
    let endpoint: ServerEndpoint
    /// The certificates in DER, the leaf first, or the reason why they were not decoded.
    let chain: Result<[[UInt8]], PathFailure>
    let instant: Date?

    /// The members of the line's object, before their types are checked.
    struct Members {
        let id: JSONValue
        let host: JSONValue
        let chain: JSONValue
        var port: JSONValue?
        var anchors: JSONValue?
        var at: JSONValue?
        var policy: JSONValue?

        init(_ root: JSONValue) throws(BatchError) {
            guard let members = root.members else {
                throw BatchError("wrong-type", "a case is an object", at: root, hint: Self.shape)
            }
            var id: JSONValue?
            var host: JSONValue?
            var chain: JSONValue?
            for member in members {
                let value = member.value.isNull ? nil : member.value
                if member.key.equals("id") {
                    // Null is an id like any other.
                    id = member.value
                } else if member.key.equals("host") {
                    host = value
                } else if member.key.equals("chain") {
                    chain = value
                } else if member.key.equals("port") {
                    port = value
                } else if member.key.equals("anchors") {
                    anchors = value
                } else if member.key.equals("at") {
                    at = value
                } else if member.key.equals("policy") {
                    policy = value
                } else {
                    let name = JSONWriter.quoted(member.key.string ?? "")
                    throw BatchError("unknown-key", "unknown key \(name)", at: member.key, hint: Self.shape)
                }
            }
            guard let id else { throw Self.missing("id", root) }
            guard BatchCase.isScalar(id) else {
                throw BatchError("wrong-type", "id is neither a string, a number, a boolean nor null", at: id)
            }
            guard let host else { throw Self.missing("host", root) }
            guard let chain else { throw Self.missing("chain", root) }
            (self.id, self.host, self.chain) = (id, host, chain)
        }

        private static let shape = "a case is {id, host, port?, chain, anchors?, at?, policy?}"

        private static func missing(_ key: String, _ root: JSONValue) -> BatchError {
            BatchError("missing-key", "the case has no \"\(key)\"", at: root, hint: shape)
        }
    }

    static func isScalar(_ value: JSONValue) -> Bool { value.kind != .object && value.kind != .array }

    init(_ members: Members) throws(BatchError) {
        guard let name = members.host.string else { throw Self.wrongType("host", "a string", members.host) }
        let host: ServerName
        do {
            host = try ServerName(name)
        } catch {
            throw BatchError("invalid-host", error.description, at: members.host, hint: error.hint)
        }
        var port: UInt16 = 443
        if let value = members.port {
            guard let number = value.integer.flatMap(UInt16.init(exactly:)), number > 0 else {
                throw BatchError("invalid-port", "port is not an integer from 1 to 65535", at: value)
            }
            port = number
        }
        endpoint = ServerEndpoint(host: host, port: port)
        instant = try members.at.map { value throws(BatchError) in try Self.instant(value) }
        chain = try Self.chain(members.chain)
    }

    private static func wrongType(_ key: String, _ kind: String, _ value: JSONValue) -> BatchError {
        BatchError("wrong-type", "\(key) is not \(kind)", at: value)
    }

    private static func instant(_ value: JSONValue) throws(BatchError) -> Date {
        guard let text = value.string else { throw wrongType("at", "a string", value) }
        do {
            return try RFC3339.date(from: text)
        } catch {
            throw BatchError(
                "invalid-date", "at: \(JSONWriter.quoted(text)) is \(error.message)", at: value, hint: error.hint)
        }
    }

    /// Decodes the chain. The bytes inside the PEM need not be a certificate: the decision reports that. A chain that
    /// the decision refuses for its size is not decoded.
    private static func chain(_ value: JSONValue) throws(BatchError) -> Result<[[UInt8]], PathFailure> {
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
    static func anchors(_ value: JSONValue) throws(BatchError) -> [Certificate] {
        guard let elements = value.elements else { throw wrongType("anchors", "an array of PEM certificates", value) }
        var certificates: [Certificate] = []
        for element in elements {
            let name = "anchors[\(certificates.count)]"
            guard let der = try pem(element, name) else {
                throw BatchError(
                    "invalid-anchor", "\(name) has more than \(Certificate.maximumSize) bytes", at: element)
            }
            do {
                certificates.append(try Certificate(der: der))
            } catch {
                throw BatchError("invalid-anchor", "\(name) is not a certificate: \(error)", at: element)
            }
        }
        return certificates
    }

    /// Returns the content of one CERTIFICATE block; `nil` if it is larger than any certificate may be.
    private static func pem(_ value: JSONValue, _ name: String) throws(BatchError) -> [UInt8]? {
        guard let text = value.stringBytes else { throw wrongType(name, "a string", value) }
        let hint = "each element is one certificate: -----BEGIN CERTIFICATE-----\\n...\\n-----END CERTIFICATE-----\\n"
        let blocks: [PEMBlock]
        do {
            blocks = try PEMReader.blocks(in: text, maximumBlockSize: Certificate.maximumSize)
        } catch {
            if case .tooLarge = error.reason { return nil }
            throw BatchError("malformed-pem", "\(name), line \(error.line): \(error.message)", at: value, hint: hint)
        }
        guard blocks.count == 1, let block = blocks.first, block.isCertificate else {
            let found = blocks.isEmpty ? "no PEM" : blocks.map(\.label).prefix(3).joined(separator: ", ")
            throw BatchError("malformed-pem", "\(name) holds \(found), not one CERTIFICATE", at: value, hint: hint)
        }
        return block.bytes
    }
}

/// The reason why a line cannot be read as a case.
struct BatchError: Error {
    let code: String
    let message: String
    /// The column within the line.
    var column: Int?
    var hint: String?

    init(_ code: String, _ message: String, at value: JSONValue? = nil, hint: String? = nil) {
        self.code = code
        self.message = message
        column = value?.place.column
        self.hint = hint
    }

    init(_ error: JSONError) {
        self.init(error.code.rawValue, error.message, hint: error.hint)
        column = error.column
    }

    init(_ error: PolicyError) {
        let others = error.problems.count - 1
        let more = others > 0 ? " (and \(ValidityText.counted(others, "other problem")))" : ""
        let first = error.problems.first
        let place = first.map { $0.path.isEmpty ? "policy: " : "policy.\($0.path): " } ?? "policy: "
        self.init(first?.id ?? "invalid-policy", place + (first?.message ?? "") + more, hint: first?.help)
        column = first?.column
    }
}
