internal import Pintle
package import PintleConsole
internal import PintlePolicyLint
internal import PintleStorage
internal import PintleSystem
internal import PintleText

extension Command {
    package static let plan = Command(
        name: "plan",
        summary: "Simulate a rotation of keys: find which versions are locked out when, and what to do",
        examples: [
            Example(line: "pintle plan plan.json", purpose: "simulate a plan, from today to its end"),
            Example(
                line: "pintle plan plan.json --html plan.html",
                purpose: "a page with a timeline for everyone who has to agree"),
            Example(
                line: "pintle plan plan.json --json",
                purpose: "in CI: exit code 1 if a version would lose a server"),
        ],
        overview: [
            """
            Reads planned keys and certificates, the certificates that each server will show over time, the versions \
            of the app with their policies, and signed updates. For every version and every change it asks how the app \
            would decide. It prints which versions could not connect from which day on, which pin to add by which day, \
            from which day on a key can be switched, and which versions an update reaches. A server may name the \
            client that renews its certificates. The headline says which pins new keys end, and what was not \
            simulated. No server is contacted. Days are in UTC.
            """
        ],
        arguments: [Argument(name: "PLAN", help: "The plan file, or `-` for standard input")],
        ownOptions: [.page, .planInstant, .families],
        exitCodes: [
            (.fine, "no simulated version is locked out"),
            (.rejected, "versions would be locked out"), (.unusable, "the plan or a policy cannot be used"),
        ],
        sections: [
            .json(
                keys: [
                    (
                        "result",
                        "`ok`, `incomplete` (a gap), `exposed` (a stolen key is accepted) or `lockedOut`"
                    ),
                    ("from, until", "The period that was examined"),
                    ("notSimulated", "Versions, users and times that the result says nothing about, in words"),
                    (
                        "lockouts",
                        "For each server, version and reason; the keys are listed below"
                    ),
                    (
                        "exposures",
                        "Apps that accept a stolen key; the keys are listed below"
                    ),
                    (
                        "renewals",
                        "`host`, `port`, `client`, `keys` (`new`, `same`), `from`, `every`, `lifetime`, "
                            + "`endsPinsOf`, `message`"
                    ),
                    (
                        "updates",
                        "`version`, `published`, `expires`, and `apps`: `app`, `result` (`accepted`, "
                            + "`rejected`), `error`, `message`"
                    ),
                    (
                        "advice",
                        "`id`, `host`, `port`, `by`, `pin`, `apps`, `message`"
                    ),
                    ("notes", "Other remarks, in words"),
                ]),
            ReferenceSection(
                "Lockouts, renewals and exposures",
                .paragraph(
                    """
                    A lockout has `from`, `until` (absent: the plan's end), `host`, `port`, `app`, `reason`, \
                    `pathFailure`, `certificate`, `missingKey`, `missingPin` and `message`. \
                    `authority` is there if the version loses the server only under that one of several authorities.
                    """),
                .paragraph(
                    """
                    Each server with `renews` is one of `renewals`. `endsPinsOf` has the versions whose pin of the \
                    leaf the first new key ends.
                    """),
                .paragraph(
                    """
                    An exposure has `from`, `until`, `host`, `port`, `key`, `certificate`, `apps` \
                    and `message`.
                    """)),
        ],
        articles: [.planningRotations],
        run: { invocation throws(ToolError) in try PlanCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let planInstant = Option(
        "at", .instant("TIME"), defaultText: "now",
        help: "Decide as if it were this time, such as 2027-11-20, which is its first second in UTC")
    fileprivate static let page = Option(
        "html", .output("FILE"), help: "Also write a page with a timeline to this file")
}

/// `pintle plan PLAN`
struct PlanCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let arguments = invocation.arguments
        let now = arguments[.planInstant] ?? invocation.now
        var inputs = arguments.positionals
        let file = try invocation.file(arguments.positionals[0], limit: PlanLimits.fileSize + 1)
        let plan: RotationPlan
        do {
            plan = try PlanReader.read(
                file.bytes, file: file.name, isPublicSuffix: invocation.isPublicSuffix,
                infoPlistFile: { path throws(ToolError) in
                    let path = PolicyFolder(ofFile: file.path).path(of: path)
                    inputs.append(path)
                    return try ATSImport.pins(inFile: path)
                },
                policyFile: { path throws(ToolError) in
                    inputs.append(PolicyFolder(ofFile: file.path).path(of: path))
                    return try policy(path, besides: file.path)
                })
        } catch {
            guard let kind = FileKind(of: file.bytes), kind != .plan else { throw error }
            throw kind.refusal(of: file, wanted: "a plan")
        }
        try GuardedFiles.check(.page, of: arguments, reading: inputs)
        try Self.check(plan, from: now, file: file.name)
        let report = PlanReport(
            try PlanSimulation(plan, now: now), families: try FamilyFile.read(invocation).families)
        let page = report.page(ofFile: file.name)
        if let path = arguments[.page] {
            try ReportHTML(page, date: invocation.now).write(to: path)
            invocation.console.printMessage("wrote \(SafeText.escape(path))")
        }
        if invocation.writesJSON {
            invocation.console.print(report.document)
        } else {
            invocation.print(page.report)
        }
        return report.isLockedOut ? .rejected : .fine
    }

    private static func check(_ plan: RotationPlan, from now: Date, file: String) throws(ToolError) {
        guard now < plan.until else {
            throw .unusable(
                "plan-is-over", "the plan ended \(PlanTime.text(plan.until))", file: file,
                hint: "write a later day in \"until\", or look back with --at")
        }
        guard plan.until <= now.startOfDay.addingDays(PlanLimits.days) else {
            throw .unusable(
                "plan-too-long", "the plan ends \(PlanTime.text(plan.until)), more than ten years ahead", file: file,
                hint: "write an earlier day in \"until\"")
        }
    }

    /// Reads a policy file that the plan names. Its path is relative to the plan's folder; the paths of its anchors are
    /// relative to the policy's folder.
    private func policy(_ name: String, besides plan: String) throws(ToolError) -> PinningPolicy {
        let path = PolicyFolder(ofFile: plan).path(of: name)
        let bytes: [UInt8]
        do {
            bytes = try RegularFile.content(path, limit: PlanLimits.policyFileSize)
        } catch {
            throw .unusable(error.id, "the policy \(error)", hint: error.help)
        }
        do {
            return try PinningPolicy(bytes, ofFile: path, invocation)
        } catch {
            throw ToolError(error, file: path)
        }
    }
}
