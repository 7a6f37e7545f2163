internal import Pintle
internal import PintleAttacks

extension SurveyReport {
    /// The results for code scanning. Each answer is a rule. An answer that is no fault is a note.
    var sarif: SARIFReport {
        let results = hosts.compactMap { host -> SARIFReport.Result? in
            let isFinding = judge.remarks(about: host).contains(where: \.isFinding)
            guard isFinding || host.answer != .pinned else { return nil }
            let isUnclear = host.answer == .inconclusive
            let level: SARIFReport.Level =
                isUnclear ? .warning : isFinding ? .error : host.answer.isExposed ? .warning : .note
            return SARIFReport.Result(
                rule: host.answer.rawValue, level: level,
                message: "\(host.authority) is \(host.answer.rawValue): \(words(about: host).joined(separator: "; "))",
                host: host.authority
            ) { json in
                json.member("answer", host.answer.rawValue)
                json.member("requestBytes", host.requestByteCount)
            }
        }
        let rules = SurveyedHost.Answer.allCases.filter { answer in results.contains { $0.rule == answer.rawValue } }
        return SARIFReport(
            client: client, exitCode: exitCode, rules: rules.map(SARIFReport.Rule.init), results: results)
    }

    /// The results for continuous integration. A finding is a failure, an inconclusive host an error, and any other
    /// host without a verdict skipped.
    var junit: JUnitReport {
        let cases = hosts.map { host -> JUnitReport.Case in
            let words = words(about: host)
            let isFinding = judge.remarks(about: host).contains(where: \.isFinding)
            let isJudged = host.answer.isExposed || host.answer == .pinned
            return JUnitReport.Case(
                place: host.authority, name: "survey",
                result: host.answer == .inconclusive
                    ? .error : isFinding ? .failure : isJudged ? .passed : .skipped,
                message: "\(host.answer.rawValue): \(words.first ?? "")", body: words)
        }
        let missing = judge.missing(in: hosts).map {
            JUnitReport.Case(place: nil, name: $0.words, result: $0.isFinding ? .failure : .skipped, message: $0.words)
        }
        return JUnitReport(cases: cases + missing, duration: duration)
    }
}

extension SARIFReport.Rule {
    init(_ answer: SurveyedHost.Answer) {
        self.init(
            id: answer.rawValue, summary: answer.summary, details: answer.summary,
            level: answer.isExposed || answer == .inconclusive ? .warning : .note, standards: answer.standards)
    }
}

extension SurveyedHost.Answer {
    fileprivate var summary: String {
        switch self {
        case .anyCertificate: "the client accepts any certificate of this host"
        case .plainHTTP: "the client sends requests to this host without TLS"
        case .both: "some connections to this host are unpinned"
        case .unpinned: "connections to this host are unpinned"
        case .pinned: "connections to this host are pinned"
        case .refused: "connections to this host are pinned, or the client does not trust the survey's authority"
        case .handshakeOnly: "the client sends this host no request, and only finishes handshakes"
        case .inconclusive: "the client ended connections to this host, and may only have given them up"
        case .silent: "the client connected to this host and sent no request"
        case .otherProtocol: "the client speaks another protocol to this host"
        case .noTLS: "the client asked for this host and gave up before TLS"
        }
    }
}
