internal import PintleAttacks
internal import PintleConsole

extension OptionSpecification {
    static let survey = OptionSpecification(
        "survey", help: "With `--proxy`: find out which hosts the client asks for, and which connections are pinned")
    static let answers = Option(
        "answers", .file("DIR"),
        help: "With `--survey`: a folder of responses, HOST/PATH; `index` for a path that ends with a slash")
    static let surveyPolicy = Option(
        "policy", .file("FILE"), help: "With `--survey`: fail if a host is unpinned that a rule of this policy covers")
    static let expectedAnswers = Option(
        "expect", .file("FILE"),
        help: "With `--survey`: a line `HOST ANSWER` for each host; fail if another host, or a changed one, is unpinned"
    )
    static let recordAnswers = OptionSpecification("record", help: "Write the file of `--expect`")
    static let strictAnswers = OptionSpecification(
        "strict",
        help:
            "With `--expect`: fail on every difference, also on a host that is missing; with `--serve`: fail if an "
            + "attack was not met")
    static let surveyRules = Option(
        "as", .choice("FORM", SurveyForm.allCases),
        help: "With `--survey`: write rules for the unpinned hosts to stdout, without their pins")
    static let surveyedPeer = Option(
        "from", .text("ADDRESS"),
        help: "With `--survey --listen`: the address of the device; no other may use the proxy")
}

/// The forms of the rules for unpinned hosts.
enum SurveyForm: String, CaseIterable {
    case policy
}

enum SurveyOptions {
    static let rules: [OptionRule] = [
        .excludes(
            .survey, .only, .group, .list, .resolveBy, .evidence, .evidenceContent, .parallelAttacks,
            .httpVersions, because: "it runs no attack"),
        .belongs(.answers, to: .survey), .belongs(.surveyPolicy, to: .survey), .belongs(.expectedAnswers, to: .survey),
        .belongs(.recordAnswers, to: .expectedAnswers), .belongs(.strictAnswers, to: .expectedAnswers, .serve),
        .belongs(.surveyRules, to: .survey), .belongs(.surveyedPeer, to: .survey),
        .belongs(.surveyedPeer, to: .listen),
        .excludes(.json, .surveyRules, because: "standard output has one document"),
    ]

    /// The keys of the survey's document.
    static let json = ReferenceSection(
        "JSON of a survey",
        .paragraph("An object: `hosts` with the keys below, `otherHosts`, `unreadableRequests`, `runs` and `notes`."),
        .table(
            "Key", "Value",
            [
                ("`host`, `port`", "The host that the client asked for"),
                (
                    "`answer`",
                    SurveyedHost.Answer.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                ),
                ("`isFinding`", "True if the host makes the exit code 1"),
                ("`rule`", "The pattern of the rule of `--policy` that covers the host"),
                ("`expected`", "The answer in the file of `--expect`"),
                ("`requestBytes`", "The number of bytes of requests that the interceptors read"),
                ("`requests`", "The first 8 requests: method and at most two segments of the path"),
                (
                    "`knownAuthority`, `unknownAuthority`",
                    "Handshakes: `letThrough`, `refused`, `givenUp` without evidence, `silent` if nothing followed"
                ),
                ("`stacks`", "The same at the known authority, by ClientHello: `alpn`, `versions`"),
                ("`alerts`", "The fatal alerts of refusals"),
                ("`plainConnections`, `otherProtocols`, `withoutTLS`", "Connections without TLS"),
                ("`unfinished`", "The number of connections without a request that were open at the end"),
                ("`notAskedAgain`", "True if the host did not meet each authority twice"),
                ("`remarks`", "The same in words"),
            ]))
}
