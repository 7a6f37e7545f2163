#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PinningPolicy {
    /// The compact form of the rules that decisions use: a table that maps a host to a rule, and each distinct set of
    /// terms once, however many rules share it.
    final class Storage: Sendable {
        struct Rule: Sendable {
            /// The offset of the host's record in the table.
            let record: UInt32
            /// The index into `terms`.
            let terms: UInt32
        }

        let table: HostTable
        let rules: [Rule]
        let terms: [CompiledTerms]

        init(_ hosts: [PinnedHost]) throws(PolicyError) {
            var problems: [PolicyProblem] = []
            var builder = HostTableBuilder()
            var rules: [Rule] = []
            var terms: [CompiledTerms] = []
            var known = TermsIndex()
            rules.reserveCapacity(hosts.count)
            let list = hosts.elementSpan
            for index in hosts.indices {
                guard problems.count <= PolicyError.maximumProblems else { throw PolicyError(problems) }
                if !list[index].isUsual {
                    for problem in list[index].problems { problems.append(problem.inside(.rule(index))) }
                }
                let place = known.place(of: list[index].terms, in: terms)
                if place == terms.count { terms.append(CompiledTerms(list[index].terms)) }
                do {
                    let record = try builder.add(
                        host: list[index].host.canonical.elementSpan, port: list[index].port,
                        includesSubdomains: list[index].includesSubdomains)
                    rules.append(Rule(record: record, terms: UInt32(truncatingIfNeeded: place)))
                } catch {
                    throw PolicyError([Self.tooMany(at: index)])
                }
            }
            let (table, duplicates) = builder.build()
            for duplicate in duplicates.prefix(PolicyError.maximumProblems + 1) {
                problems.append(
                    PolicyProblem(
                        id: "duplicate-rule", at: .rule(duplicate.second)["host"],
                        message: "hosts[\(duplicate.first)] is a rule for \(hosts[duplicate.second]) already",
                        help: "join the two; rules never pool their pins"))
            }
            problems += Self.reportProblems(hosts, table)
            try PolicyError.throwIfAny(problems)
            self.table = table
            self.rules = rules
            self.terms = terms
        }

        private static func tooMany(at index: Int) -> PolicyProblem {
            PolicyProblem(
                id: "too-many-rules", at: .rule(index), message: "the hosts together are longer than 4 GiB",
                help: "cover sub-domains by includeSubdomains")
        }

        /// Returns the problems of the report URLs. A rule must not cover the host that reports go to: otherwise a
        /// wrong pin would prevent the reports about it.
        private static func reportProblems(_ hosts: [PinnedHost], _ table: HostTable) -> [PolicyProblem] {
            var problems: [PolicyProblem] = []
            for index in hosts.indices where !hosts[index].reportTo.isEmpty {
                for (position, url) in hosts[index].reportTo.enumerated() {
                    guard problems.count <= PolicyError.maximumProblems else { return problems }
                    let place = PolicyPath.rule(index)["reportTo"][position]
                    guard let endpoint = ServerEndpoint(httpsURL: url) else {
                        problems.append(
                            PolicyProblem(
                                id: "invalid-report-url", at: place, message: "\"\(url)\" is not an https URL",
                                help: "write it as https://HOST/PATH"))
                        continue
                    }
                    if table.match(endpoint) != nil {
                        problems.append(
                            PolicyProblem(
                                id: "report-host-covered", at: place,
                                message: "\(endpoint.host) is covered by a rule of this policy",
                                help: "send reports to a host that no rule covers: a broken pin must not silence them"))
                    }
                }
            }
            return problems
        }
    }
}

extension HostTable {
    func match(_ endpoint: ServerEndpoint) -> Match? {
        match(
            host: endpoint.host.canonical.elementSpan, port: endpoint.port,
            allowsSubdomainMatch: endpoint.host.ipAddress == nil)
    }
}

/// A rule's terms together with its pins in the form that connections compare.
struct CompiledTerms: Sendable {
    let terms: HostTerms
    let pinSet: PinSet
    /// The pin terms for the fast path. If the rule has terms about the path, they match nothing, so that the slow path
    /// checks those terms. Rules without such terms, the common case, need no additional check.
    let settling: PinSet.Terms

    init(_ terms: HostTerms) {
        self.terms = terms
        pinSet = PinSet(pins: terms.pins, backupPins: terms.backupPins, requires: terms.requires)
        settling = terms.path.isEmpty ? pinSet.terms : pinSet.terms.matchingNothing
    }

    /// Returns whether the pins have expired (`at >= after`).
    func areExpired(at instant: Date) -> Bool {
        terms.expiry.isOver(at: instant)
    }
}
