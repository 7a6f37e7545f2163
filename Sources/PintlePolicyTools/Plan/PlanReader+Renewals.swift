internal import Pintle
internal import PintleConsole
internal import PintleCrypto
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleSystem

/// Reads renewal patterns.
extension PlanReader {
    /// The parts of a plan that a pattern refers to.
    struct Context {
        /// The names of the certificates in the plan's list.
        let certificates: [String]
        let keys: [String]
        /// The last switch before the pattern.
        let after: Date?
        /// The certificate of that switch; `nil` also if it cannot be read.
        let last: RotationPlan.Certificate?
        let until: Date?
    }

    /// The first renewal of the listed certificate before a pattern, and the members that are as in this certificate.
    private struct ListedRenewal {
        let from: Date
        let lifetime: Int
        let key: Int
        /// The keys above the leaf; `nil` if the certificate has none.
        let authorities: [[Int]]?
        let isPublic: Bool

        init?(_ client: RenewalClient, _ context: Context) {
            guard let last = context.last, let after = context.after, let key = last.keys.first else { return nil }
            // Some authorities let a certificate end one second before the full day.
            lifetime = max(1, (last.notAfter.wholeSeconds - last.notBefore.wholeSeconds + 43_200) / 86_400)
            // A certificate that is due when the server begins to show it is renewed on the next day.
            from = max(
                last.notBefore.addingDays(client.daysToRenewal(ofLifetime: lifetime)), after.addingDays(1))
            self.key = key
            authorities = last.keys.count > 1 ? [Array(last.keys.dropFirst())] : nil
            isPublic = last.isPublic
        }
    }

    /// The key that follows those of the plan's list. It stands for every key that a renewal makes.
    static var keyMadeLater: RotationPlan.Key {
        let digest = SHA256Digest(hashing: Array("a key that is made later".utf8))
        return RotationPlan.Key(name: "new key", pin: PublicKeyPin(digest: digest), isMadeLater: true)
    }

    /// Returns one switch for each authority, to a certificate that stands for all renewals under it; none if the first
    /// renewal is after the plan's end.
    ///
    /// The name of a client stands for an object with that `client`. Members that such an object leaves out are as in
    /// the listed certificate before, and as the client does by default.
    mutating func renewals(
        _ value: JSONValue, _ context: Context, _ path: String
    ) -> [RotationPlan.Server.Switch] {
        guard value.string != nil else {
            guard let fields = fields(of: value, as: PlanKeys.Renewal.self, path) else { return [] }
            let client: RenewalClient? = optional(.client, of: fields) { $0.choice($1, $2) }
            return fields[.client] != nil && client == nil ? [] : renewals(fields, client, context)
        }
        guard let client: RenewalClient = choice(value, path) else { return [] }
        guard context.last != nil else {
            if context.after == nil {
                report(
                    "missing-key", value, "\(path) is the name of a client, and no certificate is listed before",
                    help: "list the certificate that is renewed in \"serves\", or write \"renews\": {...}")
            }
            return []
        }
        return renewals(noFields(inPlaceOf: value, path), client, context)
    }

    private mutating func renewals(
        _ fields: Fields<PlanKeys.Renewal>, _ client: RenewalClient?, _ context: Context
    ) -> [RotationPlan.Server.Switch] {
        let path = fields.name
        let listed = client.flatMap { ListedRenewal($0, context) }
        let from = value(.from, of: fields, or: listed?.from) { $0.date(.from, of: fields) }
        if fields[.from] == nil, let from, let until = context.until, from > until { return [] }
        if let from, let after = context.after, from <= after, let value = fields[.from] {
            report(
                "dates-out-of-order", value, "\(path).from is not later than the last switch of \"serves\"",
                help: "let the renewals begin after the listed certificates")
        }
        if let from, let until = context.until, from > until, let value = fields[.from] {
            report(
                "dates-out-of-order", value, "\(path).from is after the plan's end",
                help: "let the renewals begin before \"until\"")
        }
        let lifetime = value(.lifetime, of: fields, or: listed?.lifetime) {
            $0.days(.lifetime, of: fields, example: "47")
        }
        let every = value(.every, of: fields, or: lifetime.flatMap { client?.daysToRenewal(ofLifetime: $0) }) {
            $0.days(.every, of: fields, example: "30")
        }
        if let every, let lifetime, every > lifetime, let value = fields[.every] {
            report(
                "renewal-too-late", value, "\(path): each certificate ends before the next is served",
                help: "renew after two thirds of the lifetime: \"every\": \(max(1, lifetime * 2 / 3))")
        }
        let leaf = leaf(of: fields, client, listed, context)
        let trust: PlanKeys.Trust? = optional(.trust, of: fields) { $0.choice($1, $2) }
        let isPublic = trust.map { $0 != .private } ?? listed?.isPublic ?? true
        let authorities =
            value(.authorities, of: fields, or: listed?.authorities) { reader in
                reader.required(.authorities, of: fields, example: "[\"root A\", \"root B\"]") {
                    $0.authorities($1, context, leaf: leaf, $2)
                }
            } ?? []
        guard let from, let every, let lifetime, let leaf else { return [] }
        let count = max(0, ((context.until ?? from).wholeSeconds - from.wholeSeconds) / 86_400 / every)
        return authorities.map { keys in
            let authority = keys.map { context.keys[$0] }.joined(separator: ", ")
            let renewal = RotationPlan.Renewal(
                client: client, every: every, lifetime: lifetime, authority: authority,
                hasAlternatives: authorities.count > 1)
            renewals.append(
                RotationPlan.Certificate(
                    name: "renewal from \(authority)", keys: [leaf] + keys, notBefore: from,
                    notAfter: from.addingDays(count * every + lifetime), isPublic: isPublic, renewal: renewal))
            return RotationPlan.Server.Switch(
                from: from, certificate: context.certificates.count + renewals.count - 1)
        }
    }

    /// Reads a member, unless it is missing and there is a value in its place.
    private mutating func value<Value>(
        _ key: PlanKeys.Renewal, of fields: Fields<PlanKeys.Renewal>, or standard: Value?,
        _ read: (inout Self) -> Value?
    ) -> Value? {
        if fields[key] == nil, let standard { return standard }
        return read(&self)
    }

    private mutating func days(
        _ key: PlanKeys.Renewal, of fields: Fields<PlanKeys.Renewal>, example: String
    ) -> Int? {
        required(key, of: fields, example: example) {
            $0.integer($1, in: 1...Int64(PlanLimits.days), id: "invalid-day", $2)
        }
    }

    /// Returns the key of the leaf: that of `key`, or the one that stands for new keys.
    private mutating func leaf(
        of fields: Fields<PlanKeys.Renewal>, _ client: RenewalClient?, _ listed: ListedRenewal?, _ context: Context
    ) -> Int? {
        let standard: PlanKeys.RenewalKeys? = client.map { $0.makesNewKeys ? .new : .same }
        let keys = value(.keys, of: fields, or: standard) { reader in
            reader.required(.keys, of: fields, example: "\"new\" or \"same\"") { $0.choice($1, $2) }
        }
        switch keys {
        case .same:
            return value(.key, of: fields, or: listed?.key) { reader in
                reader.required(.key, of: fields, example: "\"the name of the key\"") {
                    $0.reference($1, to: context.keys, $2, called: "key")
                }
            }
        case .new:
            if let key = fields[.key] {
                report(
                    "unused-key", key, "\(fields.path(.key)) says nothing about renewals with new keys",
                    help: "leave it out, or write \"keys\": \"same\"")
            }
            return context.keys.count
        case nil: return nil
        }
    }

    /// Reads the authorities, each the name of a key, or a list of names with the root last.
    private mutating func authorities(
        _ value: JSONValue, _ context: Context, leaf: Int?, _ path: String
    ) -> [[Int]] {
        var authorities: [[Int]] = []
        for (element, path) in list(value, path, limit: PlanLimits.authorities) where !isFull {
            let keys =
                element.elements != nil
                ? self.path(element, context.keys, path)
                : reference(element, to: context.keys, path, called: "key").map { [$0] } ?? []
            guard !keys.isEmpty else { continue }
            if authorities.contains(keys) {
                report("duplicate-name", element, "\(path) is there already", help: "name each authority once")
            }
            if let leaf, keys.contains(leaf) {
                report(
                    "duplicate-name", element, "\(path) has the key of the server itself",
                    help: "name the keys above it, the root last")
            }
            authorities.append(keys)
        }
        if cases + authorities.count > PlanLimits.cases {
            report(
                "too-many", value,
                "with \(path) the servers have \(cases + authorities.count) cases; "
                    + "at most \(PlanLimits.cases) are simulated",
                help: "name fewer authorities, or split the plan: each server counts once for each of its authorities")
        }
        return authorities
    }
}
