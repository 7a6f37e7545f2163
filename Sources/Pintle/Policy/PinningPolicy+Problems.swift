extension PinningPolicy {
    /// Returns the table of these rules.
    ///
    /// - Throws: all problems of the rules by themselves and in combination. Once there are more than
    ///   ``PolicyError/maximumProblems``, the later rules are not checked.
    static func table(of hosts: [PinnedHost]) throws(PolicyError) -> HostTable {
        var problems: [PolicyProblem] = []
        var duplicates: [PolicyProblem] = []
        var table = HostTable()
        for (index, host) in hosts.enumerated() {
            guard problems.count <= PolicyError.maximumProblems else { throw PolicyError(problems) }
            for problem in host.problems { problems.append(problem.inside(.rule(index))) }
            let earlier = table.add(
                index, host: host.host.canonical, port: host.port, includesSubdomains: host.includesSubdomains)
            guard let earlier, duplicates.count <= PolicyError.maximumProblems else { continue }
            duplicates.append(
                PolicyProblem(
                    id: "duplicate-rule", at: .rule(index)["host"],
                    message: "hosts[\(earlier)] is a rule for \(host) already",
                    help: "join the two; rules never pool their pins"))
        }
        try PolicyError.throwIfAny(problems + duplicates + reportProblems(hosts, table))
        return table
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
                if let alias = AddressAlias(endpoint.host) {
                    // A rule for the address behind it may cover the host.
                    problems.append(
                        PolicyProblem(
                            id: "invalid-report-url", at: place, message: "\(alias.message), in \"\(url)\"",
                            help: alias.hint))
                } else if table.match(endpoint) != nil {
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
