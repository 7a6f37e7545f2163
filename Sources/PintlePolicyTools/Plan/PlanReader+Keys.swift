internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleSystem

/// Reads keys, certificates and servers.
extension PlanReader {
    /// Returns the keys that could be read, and the names of all keys. A reference to a broken key is then not reported
    /// as well.
    mutating func keys(_ value: JSONValue, _ path: String) -> ([RotationPlan.Key], [String]) {
        var keys: [RotationPlan.Key] = []
        var names: [String] = []
        var pins: [PublicKeyPin: String] = [:]
        for (element, path) in list(value, path, limit: PlanLimits.keys) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.Key.self, path) else { continue }
            let name = newName(.name, of: fields, known: &names)
            let pin = required(.pin, of: fields, example: "\"sha256/...\"") { $0.pin($1, $2) }
            if let pin, let value = fields[.pin] {
                if let other = pins[pin] {
                    report(
                        "duplicate-pin", value, "\(path).pin is the pin of \"\(other)\"",
                        help: "one key has one entry; let certificates share its name")
                }
                pins[pin] = name ?? path
            }
            let compromised = optional(.compromised, of: fields) { $0.date($1, $2) }
            guard let name, let pin else { continue }
            keys.append(RotationPlan.Key(name: name, pin: pin, compromised: compromised))
        }
        return (keys, names)
    }

    mutating func certificates(
        _ value: JSONValue, _ keys: [String], _ path: String
    ) -> ([RotationPlan.Certificate], [String]) {
        var certificates: [RotationPlan.Certificate] = []
        var names: [String] = []
        for (element, path) in list(value, path, limit: PlanLimits.certificates) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.Certificate.self, path) else { continue }
            let name = newName(.name, of: fields, known: &names)
            let keys = required(.keys, of: fields, example: "[\"leaf key\", \"root key\"]") { $0.path($1, keys, $2) }
            let notBefore = date(.notBefore, of: fields)
            let notAfter = date(.notAfter, of: fields)
            if let notBefore, let notAfter, notAfter <= notBefore, let value = fields[.notAfter] {
                report(
                    "dates-out-of-order", value, "\(path) ends before it begins",
                    help: "write notAfter after notBefore")
            }
            let fingerprint = optional(.fingerprint, of: fields) { $0.fingerprint($1, $2) }
            let trust: PlanKeys.Trust? = optional(.trust, of: fields) { $0.choice($1, $2) }
            guard let name, let keys, let notBefore, let notAfter else { continue }
            certificates.append(
                RotationPlan.Certificate(
                    name: name, keys: keys, notBefore: notBefore, notAfter: notAfter, fingerprint: fingerprint,
                    isPublic: trust != .private))
        }
        return (certificates, names)
    }

    mutating func servers(
        _ value: JSONValue, _ certificates: [RotationPlan.Certificate], _ names: [String], _ keys: [String],
        until: Date?, _ path: String
    ) -> [RotationPlan.Server] {
        var servers: [RotationPlan.Server] = []
        var known: Set<ServerEndpoint> = []
        for (element, path) in list(value, path, limit: PlanLimits.servers) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.Server.self, path) else { continue }
            let host = required(.host, of: fields, example: "\"api.example.com\"") { $0.host($1, $2) }
            let port = optional(.port, of: fields) { $0.integer($1, in: 1...65_535, id: "invalid-port", $2) }
            if fields[.renews] == nil, fields[.serves] == nil {
                let example = "[{\"from\": \"2027-03-01\", \"certificate\": ...}], or \"renews\": {...}"
                reportMissing(.serves, of: fields, "add \"serves\": \(example)")
            }
            let switches = optional(.serves, of: fields) { $0.switches($1, names, $2) } ?? []
            let last = switches.last.flatMap { last in certificates.first { $0.name == names[last.certificate] } }
            let context = Context(
                certificates: names, keys: keys, after: switches.last?.from, last: last, until: until)
            let patterns = optional(.renews, of: fields) { $0.renewals($1, context, $2) } ?? []
            cases += max(1, patterns.count)
            guard let host, let port = fields[.port] == nil ? 443 : port.flatMap({ UInt16(exactly: $0) }) else {
                continue
            }
            let endpoint = ServerEndpoint(host: host, port: port)
            if !known.insert(endpoint).inserted {
                report(
                    "duplicate-server", fields[.host] ?? element, "\(endpoint) is there twice",
                    help: "join the two lists")
            }
            for pattern in patterns.isEmpty ? [[]] : patterns.map({ [$0] }) {
                servers.append(RotationPlan.Server(endpoint: endpoint, switches: switches + pattern))
            }
        }
        return servers
    }

    private mutating func switches(
        _ value: JSONValue, _ certificates: [String], _ path: String
    ) -> [RotationPlan.Server.Switch] {
        var switches: [RotationPlan.Server.Switch] = []
        for (element, path) in list(value, path, limit: PlanLimits.switches) where !isFull {
            guard let fields = fields(of: element, as: PlanKeys.Switch.self, path) else { continue }
            let from = date(.from, of: fields)
            let certificate = required(.certificate, of: fields, example: "\"its name\"") {
                $0.reference($1, to: certificates, $2, called: "certificate")
            }
            if let from, let last = switches.last, from <= last.from { reportOrder(.from, of: fields) }
            guard let from, let certificate else { continue }
            switches.append(RotationPlan.Server.Switch(from: from, certificate: certificate))
        }
        return switches
    }

    mutating func path(_ value: JSONValue, _ keys: [String], _ path: String) -> [Int] {
        var found: [Int] = []
        for (element, path) in list(value, path, limit: PlanLimits.keysOfPath) where !isFull {
            guard let key = reference(element, to: keys, path, called: "key") else { continue }
            if found.contains(key) {
                report(
                    "duplicate-name", element, "\(path) is on the path already",
                    help: "name each key once, leaf first, the root last")
            }
            found.append(key)
        }
        return found
    }

    // MARK: Parts

    mutating func reportOrder<Key>(_ key: Key, of fields: Fields<Key>) {
        guard let value = fields[key] else { return }
        report(
            "dates-out-of-order", value, "\(fields.path(key)) is not later than the one before",
            help: "put the list in its order")
    }

    /// Reads a name, and reports it if the list already has it.
    mutating func newName<Key>(_ key: Key, of fields: Fields<Key>, known: inout [String]) -> String? {
        required(key, of: fields, example: "\"a name\"") { reader, value, path in
            guard let name = reader.name(value, path) else { return nil }
            if known.contains(name) {
                reader.report(
                    "duplicate-name", value, "\(path): \(reader.quoted(value)) is there already",
                    help: "give each a name of its own")
            }
            known.append(name)
            return name
        }
    }

    mutating func date<Key>(_ key: Key, of fields: Fields<Key>) -> Date? {
        required(key, of: fields, example: "\"2027-03-01\"") { $0.date($1, $2) }
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
