internal import Pintle
internal import PintleAttacks

/// The findings about the hosts of a survey: what a policy covers, and what is expected of each.
struct SurveyJudge {
    let policy: PinningPolicy?
    /// `nil` without `--expect`.
    let expectation: SurveyExpectation?
    /// A Boolean value that indicates whether every difference from the expectation is a finding.
    let isStrict: Bool

    /// A sentence about one host.
    struct Remark {
        let isFinding: Bool
        let words: String
    }

    /// Returns the findings and notes about a host.
    func remarks(about host: SurveyedHost) -> [Remark] {
        var remarks: [Remark] = []
        if host.answer == .inconclusive {
            let doubt = host.doubt.map { " because \($0)" } ?? ""
            remarks.append(
                Remark(
                    isFinding: true,
                    words: "refused or given up?\(doubt); name its pinned hosts with --host, give it more time, or run "
                        + "one part of it"))
        }
        if policy != nil, host.answer.exposure > 0 {
            if let rule = rule(for: host) {
                remarks.append(Remark(isFinding: true, words: "the policy's rule for \(rule) covers it"))
            } else if (try? ServerName(host.name)) == nil {
                remarks.append(Remark(isFinding: true, words: "its name fits no rule, so no policy can cover it"))
            }
        }
        if let expectation {
            if let remark = difference(of: host, from: expectation) { remarks.append(remark) }
        } else if host.answer.exposure >= SurveyedHost.Answer.plainHTTP.exposure {
            remarks.append(Remark(isFinding: true, words: "anyone on the way can read it"))
        }
        return remarks
    }

    /// Returns the lines of the expectation that no host answered.
    func missing(in hosts: [SurveyedHost]) -> [Remark] {
        (expectation?.lines(without: hosts) ?? []).map {
            Remark(
                isFinding: isStrict, words: "\($0.pattern) is expected (\($0.answer.rawValue)), and was not asked for")
        }
    }

    private func difference(of host: SurveyedHost, from expectation: SurveyExpectation) -> Remark? {
        let answer = host.answer
        guard let line = expectation.line(for: host) else {
            return Remark(
                isFinding: isStrict || answer.exposure > 0, words: "\(expectation.name) does not have it")
        }
        guard line.answer != answer else { return nil }
        return Remark(
            isFinding: isStrict || answer.exposure > line.answer.exposure,
            words: "\(expectation.name):\(line.number) expects \(line.answer.rawValue)")
    }

    /// Returns the pattern of the policy's rule for a host, if there is one.
    func rule(for host: SurveyedHost) -> String? {
        guard let policy, let name = try? ServerName(host.name) else { return nil }
        return policy.rule(for: ServerEndpoint(host: name, port: host.port)).map { "\($0.pattern)" }
    }
}

extension SurveyedHost {
    /// A Boolean value that indicates whether no connection was read, and some were not refused either.
    var isUnjudged: Bool {
        !answer.isExposed
            && (unfinishedCount > 0
                || [.inconclusive, .handshakeOnly, .silent, .otherProtocol, .noTLS].contains(answer))
    }
}

extension SurveyedHost.Answer {
    /// A rank of how many others can read what the client sends; 0 if an interceptor got nothing. It is unknown what
    /// another protocol protects, and what a connection without a request would have sent. So both fail a gate, and do
    /// not count as unpinned.
    var exposure: Int {
        switch self {
        case .anyCertificate: 6
        case .plainHTTP: 5
        case .unpinned: 4
        case .both: 3
        case .otherProtocol: 2
        case .inconclusive, .handshakeOnly, .silent, .noTLS: 1
        case .pinned, .refused: 0
        }
    }

    /// A Boolean value that indicates whether an interceptor has read a request.
    var isExposed: Bool { exposure >= Self.both.exposure }
}
