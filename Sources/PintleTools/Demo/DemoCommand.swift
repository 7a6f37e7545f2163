internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleTestKit
internal import PintleText

extension Command {
    static let demo = Command(
        name: "demo",
        summary: "See servers judged on this machine, in a few seconds",
        examples: [
            Example(line: "pintle demo", purpose: "the effect of pins, and their limits"),
            Example(line: "pintle demo --keep", purpose: "the same, and the certificates and policies to play with"),
        ],
        overview: [
            """
            Starts real TLS servers on loopback with new certificates, and connects to each as an app would. Nothing \
            leaves this machine, and nothing on it is changed: only this process trusts the two authorities of the \
            story.
            """
        ],
        arguments: [],
        ownOptions: [.keep],
        exitCodes: [
            (.fine, "every scene ended as it should"), (.rejected, "a scene did not"),
            (.unusable, "the servers could not be started"),
        ],
        articles: [.decisions],
        run: { invocation throws(ToolError) in try DemoCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let keep = OptionSpecification(
        "keep", help: "Leave the certificates and policies in a new folder, and print its name")
}

/// `pintle demo`
struct DemoCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        let clock = ContinuousClock()
        let start = clock.now
        let setup = try DemoSetup()
        let console = invocation.console
        if !invocation.writesJSON {
            console.print(
                "Servers on this machine, nothing leaves it. "
                    + "Policy: \(setup.endpoint.host), one pin, one backup.\n")
        }
        var results: [DemoResult] = []
        let temporary = invocation.environment["TMPDIR"] ?? "/tmp"
        for scene in try setup.scenes(at: invocation.now, under: temporary) {
            if Interrupts.areAsking { throw .unusable("interrupted", "interrupted") }
            let result = try scene.run(at: invocation.now)
            results.append(result)
            if !invocation.writesJSON { print(result) }
        }
        var folder: DemoFolder?
        if invocation.arguments.has(.keep) {
            folder = try DemoFolder.write(setup, under: temporary, at: invocation.now)
        }
        if invocation.writesJSON {
            console.print(Self.document(results, folder: folder))
        } else {
            close(after: start.duration(to: clock.now), folder: folder)
        }
        let failures = results.filter { !$0.isAsExpected }
        for failure in failures {
            console.warn(
                "\"\(failure.scene.title)\" should have been \(failure.scene.expected.text), "
                    + "and was \(failure.verdict.text)")
        }
        return failures.isEmpty ? .fine : .rejected
    }

    private func print(_ result: DemoResult) {
        let palette = invocation.console.palette
        let word = result.decision.isTrusted ? "trusted" : "REJECTED"
        let column = TextLayout.padded(word, to: 10)
        let verdict =
            if !result.isAsExpected {
                palette.bad(column)
            } else if result.scene.isInterception, result.decision.isTrusted {
                palette.warning(column)
            } else {
                palette.good(column)
            }
        let number = result.scene.number.map { " \($0) " } ?? "   "
        invocation.console.print(
            number + " " + TextLayout.padded(result.scene.title, to: 37) + verdict
                + TextLayout.padded(result.decision.reason, to: 18) + result.scene.remark(result))
    }

    private func close(after duration: Duration, folder: DemoFolder?) {
        let console = invocation.console
        console.print()
        if let folder {
            console.print("kept: \(folder.path)")
            for line in folder.suggestions { console.print("  " + line) }
        }
        console.print(
            "done in \(ValidityText.seconds(duration)). Try your own: pintle pin HOST, "
                + "then pintle rehearse -- YOUR CLIENT"
        )
    }

    private static func document(_ results: [DemoResult], folder: DemoFolder?) -> JSONWriter {
        .document { json in
            json.objects("scenes", results) { json, result in
                json.member("scene", result.scene.number)
                json.member("title", result.scene.title)
                json.write(TrustDecision.facts, of: result.decision)
                json.member("requestBytes", result.requestBytes)
                json.member("isAsExpected", result.isAsExpected)
            }
            json.member("folder", folder?.path)
        }
    }
}
