// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Apple's side of Pintle on Linux: the targets that Pintle's own Package.swift has on Apple's systems, over the modules
// in the folders beside this file instead of Apple's. `make test-apple` builds it, and runs its tests. SwiftPM takes no
// source from outside of a package, so Repository is a symbolic link.

// With these options `import Foundation` brings URLSession, as on Apple's systems. No other import does, so a file that
// lacks the import does not compile here either.
let overlay = "\(Context.packageDirectory)/Foundation.swiftcrossimport/_Concurrency.swiftoverlay"
let loading: [SwiftSetting] = [
    .unsafeFlags(
        ["-enable-cross-import-overlays", "-swift-module-cross-import", "Foundation", overlay]
            .flatMap { ["-Xfrontend", $0] })
]
// The stand-ins have declarations of Apple's SDK 27, for which sources otherwise ask by its compiler.
let newestSDK = SwiftSetting.define("PINTLE_SDK_27")
let warnings: [SwiftSetting] =
    Context.environment["PINTLE_WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// The upcoming features of a target, as in Pintle's own Package.swift.
enum Features: String {
    case all, publicImports, none

    var settings: [SwiftSetting] {
        let names =
            switch self {
            case .all: ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
            case .publicImports: ["ExistentialAny", "MemberImportVisibility"]
            case .none: [String]()
            }
        return names.map { .enableUpcomingFeature($0) } + warnings
    }
}

let standIns: [Target] = [
    system("COpenSSL", "libcrypto"), system("CCurl", "libcurl"), system("CPublicSuffix", "libpsl"),
    standIn("CryptoKit", on: "COpenSSL"),
    standIn("os"),
    standIn("Security", on: "COpenSSL", "CPublicSuffix", links: "ssl"),
    // URLSession and its types, which are part of Foundation on Apple's systems only.
    standIn("URLLoading", on: "COpenSSL", "CCurl", "Security"),
    standIn("Network", on: "Security"),
    standIn("WebKit", on: "URLLoading"),
    standIn("Alamofire", on: "Security", "URLLoading", features: .publicImports, settings: loading),
    // SwiftNIO cannot be fetched everywhere. These only compile.
    standIn("NIOCore", in: "NIO"),
    standIn("NIOPosix", in: "NIO"),
    standIn("NIOTLS", in: "NIO"),
    standIn("NIOSSL", on: "NIOCore", in: "NIO"),
    standIn("Combine", features: .none),
    standIn("SwiftUI", on: "Combine", "URLLoading", features: .none, settings: loading),
]

let apple: [Target] = [
    module("PintleCrypto", on: "CryptoKit"),
    module("Pintle", on: "PintleCrypto"),
    module("PintleSystem"),
    module("PintlePolicyFile", on: "Pintle", "PintleCrypto"),
    module("PintleEvents", on: "Pintle", "PintleSystem", "os"),
    module("PintleStorage", on: "Pintle", "PintlePolicyFile", "PintleSystem", exclude: ["PrivacyInfo.xcprivacy"]),
    module("PintleResources", on: "Pintle", "PintlePolicyFile", "PintleStorage", "URLLoading"),
    module(
        "PintleUpdates", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "PintleStorage", "PintleSystem", "Security",
        "URLLoading"),
    module(
        "PintleReports", on: "Pintle", "PintleCrypto", "PintleEvents", "PintlePolicyFile", "PintleStorage",
        "PintleSystem"),
    module(
        "PintleApple", on: "Pintle", "Network", "Security", "URLLoading", "WebKit", "os", features: .publicImports),
    module(
        "PintleURLSession", on: "Pintle", "PintleApple", "PintleEvents", "Network", "Security", "URLLoading", "WebKit",
        "os", exclude: ["Linux"], features: .publicImports),
    module(
        "PintleRemote", on: "Pintle", "PintleEvents", "PintlePolicyFile", "PintleReports", "PintleStorage",
        "PintleURLSession", "PintleUpdates", "URLLoading"),
    module(
        "PintleNIO", on: "Pintle", "PintleApple", "PintleEvents", "NIOCore", "NIOPosix", "NIOTLS", "NIOSSL",
        settings: [.define("NIO")]),
    // PintleTestKit as on Apple's systems. Another symbolic link leads to its sources, because SwiftPM allows each file
    // in one target only, and the tests also need the next two targets.
    module(
        "TestKitOnApple", on: "Pintle", "PintleCrypto", "CryptoKit", "Security", "URLLoading", path: "TestKitOnApple",
        exclude: ["Linux"]),
]

// Servers, keys of every kind and attacks, which need OpenSSL.
let servers: [Target] = [
    module("PintleProcess", on: "PintleSystem"),
    module(
        "PintleTestKit", on: "PintleCrypto", "PintleProcess", "PintleSystem", "COpenSSL", exclude: ["Apple"],
        links: "ssl"),
    module("PintleAttacks", on: "COpenSSL", "Pintle", "PintleSystem", "PintleTestKit"),
    module(
        "TrustTables", on: "PintleTestKit", path: "Repository/Tests/TrustTables", exclude: ["TrustTables.md"]),
    module(
        "AttackDemo", on: "PintleAttacks", "PintleStorage", "PintleURLSession", "PintleTestKit", "URLLoading",
        path: "Repository/Tests/AttackDemo"),
]

let app: [Target] = [
    .target(
        name: "ClientModel",
        dependencies: ["PintlePolicyFile", "PintleRemote", "PintleStorage", "PintleURLSession", "URLLoading"],
        path: "Repository/Examples/Sources/ClientModel", packageAccess: false,
        swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")] + warnings + loading),
    // For Scripts/verdicts.py.
    .executableTarget(
        name: "Client", dependencies: ["ClientModel", "URLLoading"], path: "Repository/Examples/Sources/Client",
        packageAccess: false, swiftSettings: warnings + loading),
    .executableTarget(
        name: "AppViews", dependencies: ["ClientModel", "Combine", "PintleURLSession", "SwiftUI", "WebKit"],
        path: "Repository/Examples/App", exclude: ["README.md"], packageAccess: false,
        // The settings of a new project in Xcode 26.
        swiftSettings: [.defaultIsolation(MainActor.self)]
            + ["MemberImportVisibility", "InferIsolatedConformances", "NonisolatedNonsendingByDefault"]
            .map { .enableUpcomingFeature($0) } + warnings + loading),
]
// SwiftPM lists each file of a folder that no target names, unless it is excluded.
let snippetFiles = try FileManager.default.contentsOfDirectory(
    atPath: "\(Context.packageDirectory)/Repository/Snippets")
let snippets: [Target] = [
    "ApplePlatforms", "ChangingPolicy", "FirstRequest", "Migrating", "PinnedImages", "PinnedSession", "PinnedWebView",
].map { name in
    .executableTarget(
        name: name,
        dependencies: [
            "PintleApple", "PintlePolicyFile", "PintleRemote", "PintleResources", "PintleStorage", "PintleURLSession",
            "Network",
            "Security", "SwiftUI", "URLLoading", "WebKit", "os",
        ],
        path: "Repository/Snippets", exclude: snippetFiles.filter { $0 != "\(name).swift" }, packageAccess: false,
        swiftSettings: [newestSDK] + warnings)
}

// The tests of the core are left out, because they run with the other targets.
let tests: [Target] = [
    .testTarget(
        name: "PintleAppleTests",
        dependencies: [
            "Alamofire", "AttackDemo", "Network", "Pintle", "PintleApple", "PintleCrypto", "PintleEvents",
            "PintlePolicyFile", "PintleRemote", "PintleReports", "PintleResources", "PintleStorage", "PintleTestKit",
            "PintleURLSession", "PintleUpdates", "Security", "TestKitOnApple", "TrustTables", "URLLoading", "WebKit",
            "os",
        ],
        path: "Repository/Tests/PintleAppleTests",
        // Only for the tests: the example code for Alamofire needs a module of that name.
        swiftSettings: [.define("PINTLE_ALAMOFIRE")] + Features.all.settings + loading),
    .testTarget(
        name: "PintleResourceTests",
        dependencies: ["PintlePolicyFile", "PintleResources", "PintleStorage", "PintleTestKit", "PintleURLSession"],
        path: "Repository/Tests/PintleResourceTests",
        swiftSettings: [.define("PINTLE_APPLE")] + Features.all.settings + loading),
    // With the alias `import PintleTestKit` imports the module of Apple's systems.
    .testTarget(
        name: "AppTests", dependencies: ["Pintle", "PintleApple", "PintleURLSession", "TestKitOnApple"],
        path: "Repository/Tests/AppTests", packageAccess: false,
        swiftSettings: [.unsafeFlags(["-module-alias", "PintleTestKit=TestKitOnApple"])] + warnings + loading),
]

let package = Package(
    name: "stand-ins", targets: standIns + apple + servers + app + snippets + tests, swiftLanguageModes: [.v6])

func system(_ name: String, _ pkgConfig: String) -> Target {
    .systemLibrary(name: name, path: "Repository/Sources/\(name)", pkgConfig: pkgConfig)
}

func standIn(
    _ name: String, on dependencies: Target.Dependency..., in folder: String? = nil, features: Features = .all,
    settings: [SwiftSetting] = [], links library: String? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: folder.map { "\($0)/\(name)" } ?? name,
        packageAccess: features != .none,
        swiftSettings: features.settings + settings, linkerSettings: library.map { [.linkedLibrary($0)] })
}

func module(
    _ name: String, on dependencies: Target.Dependency..., path: String? = nil, exclude: [String] = [],
    features: Features = .all, settings own: [SwiftSetting] = [], links library: String? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path ?? "Repository/Sources/\(name)", exclude: exclude,
        swiftSettings: [.define("PINTLE_APPLE"), newestSDK] + features.settings + loading + own,
        linkerSettings: library.map { [.linkedLibrary($0)] })
}
