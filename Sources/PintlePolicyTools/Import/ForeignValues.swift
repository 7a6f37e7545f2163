internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem

/// Values that all foreign formats spell in the same way. Places are found lazily, only for errors, because a search
/// takes as long as reading the file.
enum ForeignValues {
    /// Reads a name that the platform compares with the host of a connection as it is written.
    ///
    /// - Parameter ignoresCase: false if capital letters differ from small ones, which hosts of connections have.
    static func host(
        _ text: String, ignoresCase: Bool = true, at place: @autoclosure () -> TextPlace
    ) throws(ToolError) -> ServerName {
        let host: ServerName
        do {
            host = try ServerName(text)
        } catch {
            throw .unusable("invalid-host", error.description, at: place(), hint: hint(for: error))
        }
        guard (ignoresCase ? text.lowercased() : text) == host.description else {
            throw .unusable(
                "invalid-host", "\(text) equals no host of a connection, so the platform pins nothing", at: place(),
                hint: "write \(host)")
        }
        return host
    }

    /// Reads base64 of 32 bytes without a prefix. `PublicKeyPin` reads prefixes too, but an app that the foreign file
    /// is for fails at them.
    static func key(_ text: String, at place: @autoclosure () -> TextPlace) throws(ToolError) -> PublicKeyPin {
        let key: PublicKeyPin
        do {
            key = try PublicKeyPin(text)
        } catch {
            throw .unusable(error.code, error.description, at: place(), hint: hint(for: error))
        }
        guard text.utf8.count <= key.base64.utf8.count else {
            throw .unusable(
                "invalid-pin", "\"\(text)\" is not base64 without a prefix", at: place(), hint: "write \(key.base64)")
        }
        return key
    }

    /// Returns the remedy for a pin in the spelling of the format. That of a policy file would break the app.
    private static func hint(for error: PinError) -> String {
        switch error.reason {
        case .notCanonical(let pin) where !pin.isPlaceholder: "write \(pin.base64)"
        case .empty, .notEncoded: "a pin is 44 characters of base64, as pintle pin HOST prints them behind the slash"
        case .fingerprint: "the format pins keys, not certificates; the pin of the key comes from: pintle pin HOST"
        default: error.hint
        }
    }

    private static func hint(for error: ServerNameError) -> String {
        switch error.reason {
        case .wildcard: "write the name without it, and set that sub-domains are included"
        case .port: "write only the host"
        default: error.hint
        }
    }

    /// Removes the placeholder that stands in if a format wants two keys.
    static func keys(_ texts: [(String, TextPlace)]) throws(ToolError) -> [PublicKeyPin] {
        var keys: [PublicKeyPin] = []
        for (text, place) in texts {
            let key = try key(text, at: place)
            if key != .ofNoKey { keys.append(key) }
        }
        return keys
    }

    /// Reads `2027-11-20` as the beginning of that day in UTC.
    static func day(_ text: String, at place: TextPlace) throws(ToolError) -> Date {
        let isDay = text.utf8.count == 10
        guard isDay, let date = try? RFC3339.date(from: text + "T00:00:00Z") else {
            throw .unusable(
                "invalid-date", "\"\(text)\" is not a day", at: place, hint: "write it like 2027-11-20")
        }
        return date
    }

    static func certificates(
        _ bytes: [UInt8], name: String, at place: @autoclosure () -> TextPlace
    ) throws(ToolError) -> [Certificate] {
        do {
            return try CertificateBundle(bytes).certificates
        } catch {
            let problem = error.problems.first
            throw .unusable(
                "invalid-anchor", "\(name): \(problem?.message ?? "no certificate in it")", at: place(),
                hint: problem?.help)
        }
    }
}

/// The limits of readers of foreign files.
enum ForeignLimits {
    static let fileSize = 16 << 20
    /// The most elements, values or words.
    static let items = 1 << 20
    /// The deepest nesting of elements, arrays or dictionaries.
    static let depth = 48
}
