import Foundation
import PackagePlugin

#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin
#endif

/// Checks the file `*.pintle.json` of a target whenever the target is built, and gives the target its policy as
/// `PinningPolicy.bundled`.
@main
struct PintlePolicyCheck: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SourceModuleTarget else { return [] }
        return try commands(
            for: target.name, target.sourceFiles.map(\.url),
            checker: try context.tool(named: "PintlePolicyChecker").url,
            in: context.pluginWorkDirectoryURL)
    }

    /// Returns the command that checks the one policy among the files.
    private func commands(for target: String, _ files: [URL], checker: URL, in folder: URL) throws -> [Command] {
        let policies = files.filter { $0.lastPathComponent.hasSuffix(".pintle.json") }
        guard let policy = policies.first else {
            Diagnostics.error(
                "PintlePolicyCheck: \(target) has no policy; add one file *.pintle.json to its folder, and do not exclude it"
            )
            return []
        }
        for other in policies.dropFirst() {
            Diagnostics.error(
                "PintlePolicyCheck: \(target) has another policy, \(policy.lastPathComponent); a target has one",
                file: other.path, line: 1)
        }
        guard policies.count == 1 else { return [] }
        let output = folder.appendingPathComponent("PinningPolicy+Bundled.swift")
        let configuration = policy.deletingLastPathComponent().appendingPathComponent("pintle-check.json")
        let hasConfiguration = FileManager.default.fileExists(atPath: configuration.path)
        // All certificates of the target, because this method does not run again when the policy names another one.
        let certificates = files.filter { ["pem", "cer", "crt", "der"].contains($0.pathExtension.lowercased()) }
        // The day is an argument, so the command runs again when another day plans the build.
        let day = ISO8601DateFormatter.string(
            from: Date(), timeZone: TimeZone(secondsFromGMT: 0) ?? .current, formatOptions: .withFullDate)
        return [
            .buildCommand(
                displayName: "Checking \(policy.lastPathComponent)", executable: checker,
                arguments: [policy.path, "--output", output.path, "--date", day]
                    + (hasConfiguration ? ["--configuration", configuration.path] : []) + ["--"]
                    + certificates.map(\.path),
                inputFiles: [policy] + (hasConfiguration ? [configuration] : []) + certificates,
                outputFiles: [output])
        ]
    }
}

#if canImport(XcodeProjectPlugin)
extension PintlePolicyCheck: XcodeBuildToolPlugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
        try commands(
            for: target.displayName, target.inputFiles.map(\.url),
            checker: try context.tool(named: "PintlePolicyChecker").url, in: context.pluginWorkDirectoryURL)
    }
}
#endif
