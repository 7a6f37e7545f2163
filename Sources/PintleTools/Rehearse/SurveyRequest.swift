internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintlePolicyTools

/// The options of a survey, checked against each other.
struct SurveyRequest {
    let proxyAddress: Proxy.Address
    /// The only address that may connect; `nil` on this machine.
    let peer: String?
    /// The time limit of each run of the client, in seconds.
    let timeout: Double
    let answers: SurveyAnswers
    let judge: SurveyJudge
    /// The path of the file that a survey with `--record` writes.
    let recordPath: String?

    private static let timeout = 60.0

    init(_ invocation: Invocation) throws(ToolError) {
        let arguments = invocation.arguments
        guard arguments.has(.proxy) else {
            throw .usage("--survey goes with --proxy, through which it sees the connections", of: .rehearse)
        }
        timeout = arguments[.timeout].map { Double($0) / 1_000 } ?? Self.timeout
        proxyAddress =
            try arguments[.listen].map { text throws(ToolError) in
                try RehearsalRequest.address(text, isProxied: true)
            } ?? Proxy.Address()
        peer = try Self.peer(arguments, proxyAddress)
        answers = SurveyAnswers(folder: try Self.folder(arguments[.answers]))
        let path = arguments[.expectedAnswers]
        recordPath = arguments.has(.recordAnswers) ? path : nil
        judge = SurveyJudge(
            policy: try arguments[.surveyPolicy].map { path throws(ToolError) in
                try PolicyInput(path, invocation).policy()
            },
            expectation: recordPath == nil
                ? try path.map { path throws(ToolError) in try SurveyExpectation(try invocation.file(path)) } : nil,
            isStrict: arguments.has(.strictAnswers))
    }

    /// Returns the address of the client. Nothing limits the survey's authority, so no other machine may use the proxy.
    private static func peer(_ arguments: ParsedArguments, _ address: Proxy.Address) throws(ToolError) -> String? {
        guard let text = arguments[.surveyedPeer] else {
            guard address.isReachable else { return nil }
            throw .usage(
                "--survey with --listen needs --from ADDRESS, the address of the device: no other may use this proxy",
                of: .rehearse, code: "missing-option")
        }
        guard let name = try? ServerName(text), let peer = name.ipAddress, !peer.isMappedIPv4 else {
            throw .usage("--from takes an address, such as 192.0.2.20", of: .rehearse)
        }
        guard peer.isIPv6 == (address.literal?.contains(":") ?? false) else {
            throw .usage("--from and --listen take addresses of one family, IPv4 or IPv6", of: .rehearse)
        }
        return name.description
    }

    private static func folder(_ path: String?) throws(ToolError) -> String? {
        guard let path else { return nil }
        guard OutputFolder.exists(path) else {
            throw .unusable(
                "unreadable-file", "it is not a folder", file: path, hint: "--answers takes a folder of HOST/PATH")
        }
        return path
    }
}
