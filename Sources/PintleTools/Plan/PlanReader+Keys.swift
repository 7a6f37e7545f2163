internal import Pintle
internal import PintleSystem

/// Reads keys, certificates and servers.
extension PlanReader {
    /// Returns the keys that could be read, and the names of all keys. A reference to a broken key is then not reported
    /// as well.
    mutating func keys(_ value: JSONValue) -> ([RotationPlan.Key], [String]) {
        var keys: [RotationPlan.Key] = []
        var names: [String] = []
        var pins: [PublicKeyPin: String] = [:]
        for (index, element) in list(value, "keys", limit: PlanLimits.keys).enumerated() where !isFull {
            let path = "keys[\(index)]"
            guard let members = members(of: element, as: PlanKeys.Key.self, path) else { continue }
            let name = newName(.name, of: members, in: element, path, known: &names)
            let pinValue = required(.pin, of: members, in: element, path, example: "\"sha256/...\"")
            let pin = pinValue.flatMap { self.pin($0, "\(path).pin") }
            if let pin, let pinValue {
                if let other = pins[pin] {
                    report(
                        "duplicate-pin", pinValue, "\(path).pin is the pin of \"\(other)\"",
                        help: "one key has one entry; let certificates share its name")
                }
                pins[pin] = name ?? path
            }
            let compromised = members[.compromised].flatMap { date($0, "\(path).compromised") }
            guard let name, let pin else { continue }
            keys.append(RotationPlan.Key(name: name, pin: pin, compromised: compromised))
        }
        return (keys, names)
    }

    mutating func certificates(_ value: JSONValue, _ keys: [String]) -> ([RotationPlan.Certificate], [String]) {
        var certificates: [RotationPlan.Certificate] = []
        var names: [String] = []
        for (index, element) in list(value, "certificates", limit: PlanLimits.certificates).enumerated() where !isFull {
            let path = "certificates[\(index)]"
            guard let members = members(of: element, as: PlanKeys.Certificate.self, path) else { continue }
            let name = newName(.name, of: members, in: element, path, known: &names)
            let keys = required(.keys, of: members, in: element, path, example: "[\"leaf key\", \"root key\"]")
                .map { self.path($0, keys, "\(path).keys") }
            let notBefore = date(.notBefore, of: members, in: element, path)
            let notAfter = date(.notAfter, of: members, in: element, path)
            if let notBefore, let notAfter, notAfter <= notBefore, let value = members[.notAfter] {
                report(
                    "dates-out-of-order", value, "\(path) ends before it begins",
                    help: "write notAfter after notBefore")
            }
            let fingerprint = members[.fingerprint].flatMap { self.fingerprint($0, "\(path).fingerprint") }
            let trust: PlanKeys.Trust? = members[.trust].flatMap { choice($0, "\(path).trust") }
            guard let name, let keys, let notBefore, let notAfter else { continue }
            certificates.append(
                RotationPlan.Certificate(
                    name: name, keys: keys, notBefore: notBefore, notAfter: notAfter, fingerprint: fingerprint,
                    isPublic: trust != .private))
        }
        return (certificates, names)
    }

    mutating func servers(
        _ value: JSONValue, _ certificates: [String], _ keys: [String], until: Date?
    ) -> [RotationPlan.Server] {
        var servers: [RotationPlan.Server] = []
        var known: Set<ServerEndpoint> = []
        for (index, element) in list(value, "servers", limit: PlanLimits.servers).enumerated() where !isFull {
            let path = "servers[\(index)]"
            guard let members = members(of: element, as: PlanKeys.Server.self, path) else { continue }
            let hostValue = required(.host, of: members, in: element, path, example: "\"api.example.com\"")
            let host = hostValue.flatMap { self.host($0, "\(path).host") }
            let port = members[.port].map { integer($0, in: 1...65_535, id: "invalid-port", "\(path).port") } ?? 443
            let serves =
                members[.renews] != nil
                ? members[.serves]
                : required(
                    .serves, of: members, in: element, path,
                    example: "[{\"from\": \"2027-03-01\", \"certificate\": ...}], or \"renews\": {...}")
            let switches = serves.map { self.switches($0, certificates, "\(path).serves") } ?? []
            let patterns = members[.renews].map { value in
                self.renewals(
                    value, Context(certificates: certificates, keys: keys, after: switches.last?.from, until: until),
                    "\(path).renews")
            }
            cases += max(1, patterns?.count ?? 1)
            guard let hostValue, let host, let port = port.flatMap({ UInt16(exactly: $0) }) else { continue }
            let endpoint = ServerEndpoint(host: host, port: port)
            if !known.insert(endpoint).inserted {
                report("duplicate-server", hostValue, "\(endpoint) is there twice", help: "join the two lists")
            }
            for pattern in patterns?.map({ [$0] }) ?? [[]] {
                servers.append(RotationPlan.Server(endpoint: endpoint, switches: switches + pattern))
            }
        }
        return servers
    }

    private mutating func switches(
        _ value: JSONValue, _ certificates: [String], _ path: String
    ) -> [RotationPlan.Server.Switch] {
        var switches: [RotationPlan.Server.Switch] = []
        for (index, element) in list(value, path, limit: PlanLimits.switches).enumerated() where !isFull {
            let path = "\(path)[\(index)]"
            guard let members = members(of: element, as: PlanKeys.Switch.self, path) else { continue }
            let from = date(.from, of: members, in: element, path)
            let certificate = required(.certificate, of: members, in: element, path, example: "\"its name\"")
                .flatMap { reference($0, to: certificates, "\(path).certificate", called: "certificate") }
            if let from, let last = switches.last, from <= last.from, let value = members[.from] {
                reportOrder(value, "\(path).from")
            }
            guard let from, let certificate else { continue }
            switches.append(RotationPlan.Server.Switch(from: from, certificate: certificate))
        }
        return switches
    }

    mutating func path(_ value: JSONValue, _ keys: [String], _ path: String) -> [Int] {
        var found: [Int] = []
        for (index, element) in list(value, path, limit: PlanLimits.keysOfPath).enumerated() where !isFull {
            guard let key = reference(element, to: keys, "\(path)[\(index)]", called: "key") else { continue }
            if found.contains(key) {
                report(
                    "duplicate-name", element, "\(path)[\(index)] is on the path already",
                    help: "name each key once, leaf first, the root last")
            }
            found.append(key)
        }
        return found
    }

    // MARK: Parts

    mutating func reportOrder(_ value: JSONValue, _ path: String) {
        report(
            "dates-out-of-order", value, "\(path) is not later than the one before", help: "put the list in its order")
    }

    /// Reads a name, and reports it if the list already has it.
    mutating func newName<Key: RawRepresentable & Hashable>(
        _ key: Key, of members: [Key: JSONValue], in object: JSONValue, _ path: String, known: inout [String]
    ) -> String? where Key.RawValue == String {
        guard let value = required(key, of: members, in: object, path, example: "\"a name\""),
            let name = name(value, "\(path).\(key.rawValue)")
        else { return nil }
        if known.contains(name) {
            report(
                "duplicate-name", value, "\(path).\(key.rawValue): \(quoted(value)) is there already",
                help: "give each a name of its own")
        }
        known.append(name)
        return name
    }

    mutating func date<Key: RawRepresentable & Hashable>(
        _ key: Key, of members: [Key: JSONValue], in object: JSONValue, _ path: String
    ) -> Date? where Key.RawValue == String {
        required(key, of: members, in: object, path, example: "\"2027-03-01\"")
            .flatMap { date($0, "\(path).\(key.rawValue)") }
    }

    private mutating func fingerprint(_ value: JSONValue, _ path: String) -> CertificatePin? {
        guard let text = string(value, path) else { return nil }
        do {
            return try CertificatePin(text)
        } catch {
            report(error.code, value, "\(path): \(error)", help: error.hint)
            return nil
        }
    }

    private mutating func host(_ value: JSONValue, _ path: String) -> ServerName? {
        guard let text = string(value, path) else { return nil }
        do {
            return try ServerName(text)
        } catch {
            report("invalid-host", value, "\(path): \(error)", help: error.hint)
            return nil
        }
    }
}
