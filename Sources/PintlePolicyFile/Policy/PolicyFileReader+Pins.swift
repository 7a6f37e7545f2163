internal import Pintle
internal import PintleCrypto

extension PolicyFileReader {
    mutating func readPins(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> [Pin] {
        guard let elements = value.elements else {
            reportType(of: value, path(), "a list of pins: [...]")
            return [Self.unread(value, at: .any)]
        }
        var pins: [Pin] = []
        pins.reserveCapacity(value.count)
        for (index, element) in elements.enumerated() where !isFull {
            pins.append(readPin(element, at: path(), index))
        }
        return pins
    }

    mutating func readBackupPins(
        _ value: JSONValue, at path: @autoclosure () -> PolicyPath
    ) -> ([Pin], BackupRequirement) {
        guard value.kind == .string else { return (readPins(value, at: path()), .required) }
        if value.string != PolicyFileKeys.noneAccepted {
            report(
                "unknown-value", value, path(), "\(quoted(value)) is neither a list of pins nor \"none-accepted\"",
                help: "write a list, or \"none-accepted\" to live without a backup")
        }
        return ([], .noneAccepted)
    }

    /// Parses an authority's key in any notation of a pin. If it is invalid, it reports that and returns a placeholder.
    mutating func readKey(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> PublicKeyPin {
        let pin = readPin(value, at: path(), .any) { text throws(PinError) in try .publicKey(text) }
        guard case .publicKey(let key) = pin.subject else { return PublicKeyPin(digest: SHA256Digest(hashing: [])) }
        return key
    }

    private mutating func readPin(_ value: JSONValue, at list: @autoclosure () -> PolicyPath, _ index: Int) -> Pin {
        // Only problems need the place.
        var path: PolicyPath { list()[index] }
        switch value.kind {
        case .string:
            return readPin(value, at: path, .any) { text throws(PinError) in try .publicKey(text) }
        case .object:
            return readPinObject(value, at: path)
        default:
            reportType(of: value, path, "a pin, or an object with \"spki\" or \"certificate\"")
            return Self.unread(value, at: .any)
        }
    }

    private mutating func readPinObject(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> Pin {
        let members = members(of: value, as: PolicyFileKeys.Pin.self, path()) ?? [:]
        if let note = members[.note] { readNote(note, about: path()) }
        let position: PinPosition = members[.at].flatMap { choice($0, path()["at"]) } ?? .any
        switch (members[.spki], members[.certificate]) {
        case (let key?, nil):
            return readPin(key, at: path()["spki"], position) { text throws(PinError) in
                try .publicKey(text, at: position)
            }
        case (nil, let certificate?):
            return readPin(certificate, at: path()["certificate"], position) { text throws(PinError) in
                try .certificate(text, at: position)
            }
        case (nil, nil):
            report(
                "missing-key", value, path(), "the pin says neither \"spki\" nor \"certificate\"",
                help: "add \"spki\": \"sha256/...\"")
        case (.some, .some):
            report(
                "ambiguous-pin", value, path(), "the pin says both \"spki\" and \"certificate\"",
                help: "write two pins, one of each")
        }
        return Self.unread(value, at: position)
    }

    private mutating func readPin(
        _ value: JSONValue, at path: @autoclosure () -> PolicyPath, _ position: PinPosition,
        _ parse: (String) throws(PinError) -> Pin
    ) -> Pin {
        guard let text = string(value, path()) else { return Self.unread(value, at: position) }
        do throws(PinError) {
            return try parse(text)
        } catch {
            report(PolicyProblem(error, at: path()), value)
            return Self.unread(value, at: position)
        }
    }

    /// Returns a placeholder for an unreadable pin. It differs for each value, so the rule is not also reported for
    /// having no pins or for having a pin twice.
    private static func unread(_ value: JSONValue, at position: PinPosition) -> Pin {
        Pin(
            .publicKey(PublicKeyPin(digest: SHA256Digest(hashing: Array("unread at \(value.offset)".utf8)))),
            at: position)
    }
}
