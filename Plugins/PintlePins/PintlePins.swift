import Foundation
import PackagePlugin

/// Runs the tool for the policies of a package: `swift package pins lint [FILE...]`, `swift package pins pin FILE...`.
@main
struct PintlePins: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        guard let command = arguments.first, ["lint", "pin"].contains(command) else {
            Diagnostics.error("write: swift package pins lint [FILE...], or: swift package pins pin FILE...")
            return
        }
        let tool = try context.tool(named: "PintleCLI").url
        let hasFile = arguments.dropFirst().contains { $0 == "-" || FileManager.default.fileExists(atPath: $0) }
        guard command == "lint", !hasFile else { exit(try run(tool, arguments)) }
        let policies = policies(of: context.package)
        guard !policies.isEmpty else {
            Diagnostics.error("no target of \(context.package.displayName) has a file *.pintle.json")
            return
        }
        let codes = try policies.map { try run(tool, arguments + [$0]) }
        exit(codes.max() ?? 0)
    }

    /// Returns the paths of the policies in the folders of all targets, in alphabetical order.
    private func policies(of package: Package) -> [String] {
        let files = package.targets.compactMap { $0 as? SourceModuleTarget }.flatMap { $0.sourceFiles.map(\.url.path) }
        return Set(files.filter { $0.hasSuffix(".pintle.json") }).sorted()
    }

    /// Returns the exit code of the tool, whose output is that of the plug-in. If it is not 0, SwiftPM prints it and
    /// ends with 1.
    private func run(_ tool: URL, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
