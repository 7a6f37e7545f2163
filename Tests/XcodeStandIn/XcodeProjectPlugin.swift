public import Foundation
public import PackagePlugin

// The part of Xcode's module XcodeProjectPlugin that the plug-ins use, to type-check them without Xcode.

public protocol XcodeBuildToolPlugin: BuildToolPlugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command]
}

public struct XcodePluginContext {
    public let pluginWorkDirectoryURL: URL
    public func tool(named name: String) throws -> PluginContext.Tool { fatalError("only type-checked") }
}

public struct XcodeTarget {
    public let displayName: String
    public let inputFiles: FileList
}
