internal import Pintle

// The members of a rule in a policy file: their keys, and below how each is read and written.

extension PolicyFileKeys {
    /// The keys of a rule.
    enum Rule: String, PolicyFileKey {
        case host, note, port, includeSubdomains, pins, backupPins, requires, expiry, enforcement, anchors
        case minimumPathLength, issuerKey, reportTo, withdraws
    }
}

extension PolicyFileReader {
    /// Parses a member of a rule. A value that cannot be read is reported and leaves the rule's default.
    ///
    /// - Parameter number: the index of the rule.
    mutating func read(_ key: PolicyFileKeys.Rule, _ value: JSONValue, into rule: inout PinnedHost, number: Int) {
        var path: PolicyPath { .rule(number)[key.rawValue] }
        switch key {
        case .host: break  // Read before the other members, which belong to it.
        case .note: readNote(value, about: .rule(number))
        case .port:
            rule.port = integer(value, in: 1...65_535, id: "invalid-port", at: path).flatMap { UInt16(exactly: $0) }
        case .includeSubdomains: rule.includesSubdomains = boolean(value, path) ?? false
        case .pins: rule.pins = readPins(value, at: path)
        case .backupPins: (rule.backupPins, rule.backupRequirement) = readBackupPins(value, at: path)
        case .requires: rule.requires = choice(value, path) ?? .anyPin
        case .expiry: rule.expiry = readExpiry(value, at: path)
        case .enforcement: rule.enforcement = choice(value, path) ?? .enforce
        case .anchors: rule.anchors = readAnchors(value, at: path)
        case .minimumPathLength: rule.pathTerms.minimumLength = readLength(value, at: path)
        case .issuerKey: rule.pathTerms.issuerKey = readKey(value, at: path)
        case .reportTo: rule.reportTo = readReportTo(value, at: path)
        case .withdraws: rule.withdrawalReason = readWithdrawal(value, at: path)
        }
    }

    private mutating func readExpiry(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> PinExpiry {
        guard let members = members(of: value, as: PolicyFileKeys.Expiry.self, path()) else { return .never }
        let after = required(
            .after, of: members, in: value, at: path(), help: "add \"after\": \"2027-11-20T00:00:00Z\""
        ).flatMap { date($0, at: path()["after"]) }
        let action: PolicyFileKeys.ExpiryAction? = required(
            .then, of: members, in: value, at: path(), help: "add \"then\": \"systemTrust\", or \"reject\""
        ).flatMap { choice($0, path()["then"]) }
        guard let after, let action else { return .never }
        return switch action {
        case .systemTrust: .systemTrust(after: after)
        case .reject: .rejecting(after: after)
        }
    }

    private mutating func readLength(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> Int? {
        let range = Int64(PathTerms.lengths.lowerBound)...Int64(PathTerms.lengths.upperBound)
        return integer(value, in: range, id: "invalid-path-length", at: path()).map(Int.init)
    }

    private mutating func readReportTo(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> [String] {
        guard let list = elements(of: value, at: path()) else { return [] }
        var urls: [String] = []
        for (index, element) in list.enumerated() where !isFull {
            // Insert a placeholder to keep the indices: the check of the whole policy reports problems by index.
            urls.append(string(element, path()[index]) ?? "https://unread.invalid/")
        }
        return urls
    }

    private mutating func readWithdrawal(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> String? {
        guard let reason = string(value, path()) else { return nil }
        guard reason.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            report("empty-reason", value, path(), "the pins are withdrawn without a reason", help: "say why")
            return nil
        }
        return reason
    }
}

extension PinnedHost {
    /// Writes a member of the rule, unless it has its default value.
    ///
    /// - Parameter place: the place of the rule, for its notes.
    func write(
        _ key: PolicyFileKeys.Rule, to json: inout JSONWriter, at place: PolicyPath, _ notes: PolicyNotes
    ) {
        let name = key.rawValue
        func write(_ pins: [Pin]) {
            json.array(name) {
                for (index, pin) in pins.enumerated() { pin.write(to: &$0, note: notes[place[name][index]]) }
            }
        }
        switch key {
        case .host: json.member(name, host.description)
        case .note: json.member(name, notes[place])
        case .port: json.member(name, port.map(Int.init))
        case .includeSubdomains: if includesSubdomains { json.member(name, true) }
        case .pins: if !pins.isEmpty { write(pins) }
        case .backupPins:
            if !backupPins.isEmpty {
                write(backupPins)
            } else if backupRequirement == .noneAccepted {
                json.member(name, PolicyFileKeys.noneAccepted)
            }
        case .requires: if requires != .anyPin { json.member(name, requires.rawValue) }
        case .expiry:
            guard let date = expiry.date else { return }
            let action: PolicyFileKeys.ExpiryAction =
                if case .rejecting = expiry { .reject } else { .systemTrust }
            json.object(name) {
                $0.member("after", RFC3339.string(from: date))
                $0.member("then", action.rawValue)
            }
        case .enforcement: if enforcement != .enforce { json.member(name, enforcement.rawValue) }
        case .anchors:
            if anchors == .system { return }
            json.object(name) {
                if !anchors.certificates.isEmpty {
                    let texts = anchors.certificates.map(\.pem)
                    $0.member("include", texts)
                }
                if anchors.includesSystem { $0.member("system", true) }
            }
        case .minimumPathLength: json.member(name, minimumPathLength)
        case .issuerKey: json.member(name, issuerKey?.description)
        case .reportTo: if !reportTo.isEmpty { json.member(name, reportTo) }
        case .withdraws: json.member(name, withdrawalReason)
        }
    }
}
