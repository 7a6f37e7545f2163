import CBaselines
import Glibc

/// Section E: whole processes, wall time.
enum ProcessSection {
    static func run(_ material: Material, _ programs: ArraySlice<String>) throws {
        guard let tool = programs.first, let peer = programs.dropFirst().first else { stop("processes TOOL C-PEER") }
        let certificate = "\(material.directory)/leaf-p256.pem"
        let recipe =
            "openssl x509 -in \(certificate) -pubkey -noout | openssl pkey -pubin -outform DER"
            + " | openssl dgst -sha256 -binary | openssl base64"
        let commands = [
            ("pintle pin", [tool, "pin", certificate]),
            ("C, one process", [peer, certificate]),
            ("openssl recipe, five processes", ["/bin/sh", "-c", recipe]),
        ]
        var samples = commands.map { _ in [Double]() }
        for round in 0..<61 {
            for (index, (name, command)) in commands.enumerated() where index < 2 || round % 3 == 0 {
                samples[index].append(spawn(name, command))
            }
        }
        let times = samples.map { median($0) / 1_000_000 }
        printTable(
            "E. Whole process, ms", ["command", "median"],
            zip(commands, times).map { [$0.0, text($1, decimals: 2)] },
            notes: [
                "recipe : pintle \(text(times[2] / times[0], decimals: 1)), target >= 5: "
                    + (times[2] / times[0] >= 5 ? "met" : "MISSED"),
                "pintle : C process \(ratio(times[0], to: times[1], atMost: 2))",
            ])
    }

    private static func spawn(_ name: String, _ command: [String]) -> Double {
        // posix_spawn needs C strings that stay valid during the call.
        let arguments = command.map { strdup($0).map { UnsafePointer($0) } } + [nil]
        defer { for argument in arguments { free(UnsafeMutablePointer(mutating: argument)) } }
        let time = baseline_spawn(arguments)
        guard time > 0 else { stop("\(name) failed") }
        return Double(time)
    }
}
