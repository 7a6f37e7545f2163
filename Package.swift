// swift-tools-version: 6.2
import PackageDescription

// Apple's side is built on Apple's systems. With PINTLE_APPLE_STANDINS=1, as in `make test-apple`, it is built on Linux
// too, with the modules of Tests/StandIns instead of Apple's. Sources test `#if PINTLE_APPLE` and never `canImport`,
// because the result of `canImport` depends on earlier builds.
// With PINTLE_OPENSSL=1 on macOS, the modules and the tool of Linux are built there, with OpenSSL. With PINTLE_DARWIN_STANDIN=1
// on Linux, the same sources are built for a C library like macOS's.
#if os(Linux)
let isLinux = true
let usesStandIns = Context.environment["PINTLE_APPLE_STANDINS"] == "1"
let usesDarwin = Context.environment["PINTLE_DARWIN_STANDIN"] == "1"
let usesOpenSSL = !usesStandIns
#else
let isLinux = false
let usesStandIns = false
let usesDarwin = false
let usesOpenSSL = Context.environment["PINTLE_OPENSSL"] == "1"
#endif
let isApple = !usesOpenSSL
/// The command-line tool needs no session, and macOS has no libcurl with OpenSSL.
let isToolOnly = usesOpenSSL && (!isLinux || usesDarwin)
let standIn: [Target.Dependency] = usesDarwin ? ["Darwin"] : []
// With the stand-ins, `import Foundation` brings URLSession, as on Apple's systems. No other import does, so a file that
// lacks the import does not compile here either.
let overlay = "\(Context.packageDirectory)/Tests/StandIns/Foundation.swiftcrossimport/_Concurrency.swiftoverlay"
let overlayFlags = ["-enable-cross-import-overlays", "-swift-module-cross-import", "Foundation", overlay]
let loading: [SwiftSetting] = usesStandIns ? [.unsafeFlags(overlayFlags.flatMap { ["-Xfrontend", $0] })] : []
let apple: [SwiftSetting] = (isApple ? [.define("PINTLE_APPLE")] : []) + loading

/// The upcoming features of a target. Targets built like an app's code have none, and no access to `package` names. The
/// two modules of Apple's session write the access level of each import that is not public.
enum Features { case all, publicImports, none }

// Apple requires a privacy manifest in each module that uses certain API; the article on Apple's systems names that API.
// On Linux it is excluded, because SwiftPM puts a resource into a bundle that must be shipped with the program.
let manifest: (resources: [Resource], exclude: [String]) =
    isApple ? ([.copy("PrivacyInfo.xcprivacy")], []) : ([], ["PrivacyInfo.xcprivacy"])

// The modules that Linux and Apple's systems share.
var products = ["Pintle", "PintleStorage", "PintleUpdates", "PintleReports"]
var targets: [Target] = [
    module("Pintle", on: "PintleCrypto"),
    module("PintleStorage", on: "Pintle", exclude: manifest.exclude, resources: manifest.resources),
    module("PintleUpdates", on: "Pintle", "PintleCrypto", "PintleStorage"),
    module(
        "PintleReports", on: "Pintle", "PintleCrypto", "PintleStorage", and: usesStandIns ? ["os"] : [],
        settings: apple),
]
products += [isApple ? "PintleApple" : "PintleOpenSSL", "PintleTestKit"]
if !isToolOnly {
    products += ["PintleURLSession", "PintleNIO"]
    // SwiftNIO is fetched only if the trait NIO is on, here or in a package that depends on this one.
    targets.append(
        module(
            "PintleNIO", on: "Pintle", isApple ? "PintleApple" : "PintleOpenSSL", "PintleReports",
            and: [
                nio("NIOCore"), nio("NIOPosix"), nio("NIOTLS"), nio("NIOSSL", in: "swift-nio-ssl"),
            ],
            settings: apple))
}
if usesOpenSSL || usesStandIns {
    targets += [
        system("COpenSSL", "libcrypto", apt: "libssl-dev", brew: "openssl@3"), module("PintleSystem"),
        // Certificates, loopback servers and processes.
        module("PintleTestKit", on: "PintleCrypto", "PintleSystem", "COpenSSL", exclude: ["Apple"], links: "ssl"),
        // The attacks of `pintle rehearse` and of the tests. It is not a product.
        module("PintleAttacks", on: "COpenSSL", "PintleSystem", "PintleTestKit"),
    ]
}
if usesStandIns || !isToolOnly && isLinux { targets.append(system("CCurl", "libcurl", apt: "libcurl4-openssl-dev")) }
if usesDarwin {
    targets += [module("DarwinTypes", in: "Tests/StandIns"), module("Darwin", on: "DarwinTypes", in: "Tests/StandIns")]
}
if usesOpenSSL {
    targets += [
        module("SystemClaims", on: "PintleSystem", "PintleTestKit", in: "Tests"),
        usesDarwin
            ? .executableTarget(
                name: "SystemProbe", dependencies: ["PintleSystem", "SystemClaims"] + standIn,
                path: "Tests/SystemProbe",
                swiftSettings: settings())
            : tests("PintleSystemTests", on: "SystemClaims"),
    ]
}
targets += usesStandIns ? standInTargets() : isApple ? appleTargets() : isToolOnly ? toolTargets() : linuxTargets()

// The library is not for users: the nested packages that fuzz and measure the tool can only reach products.
let tools: [Product] = [
    .library(name: "_PintleTools", targets: ["PintleTools"]), .executable(name: "pintle", targets: ["PintleCLI"]),
]

let package = Package(
    name: "pintle",
    // The tool uses the module Synchronization.
    platforms: isToolOnly ? [.macOS(.v15)] : [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: products.map { .library(name: $0, targets: [$0]) } + (isApple ? [] : tools),
    traits: [.trait(name: "NIO", description: "Builds PintleNIO, and fetches swift-nio and swift-nio-ssl for it.")],
    dependencies: isToolOnly
        ? []
        : [
            // The first version of NIOSSL whose callback also takes the validated path.
            .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
            .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.34.0"),
        ],
    targets: targets,
    swiftLanguageModes: [.v6]
)

/// Returns the settings that all targets share.
func settings(_ features: Features = .all) -> [SwiftSetting] {
    // Only for this project's own checks. A new warning of a later compiler must not break the build of an app.
    let warnings: [SwiftSetting] =
        Context.environment["PINTLE_WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []
    let names =
        switch features {
        case .all: ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
        case .publicImports: ["ExistentialAny", "MemberImportVisibility"]
        case .none: [String]()
        }
    return names.map { .enableUpcomingFeature($0) } + warnings
}

/// Returns the targets of the command-line tool. They need OpenSSL. On Apple's systems they exist only with PINTLE_OPENSSL:
/// the platform validates paths and hashes, and no target may require a library that is missing there.
func toolTargets() -> [Target] {
    [
        system("CPublicSuffix", "libpsl", apt: "libpsl-dev"), system("CExpat", "expat", apt: "libexpat1-dev"),
        module("PintleCrypto", on: "COpenSSL"),
        // Links ssl here, not in COpenSSL, because the core needs only libcrypto.
        module(
            "PintleOpenSSL", on: "Pintle", "PintleStorage", "PintleSystem", "COpenSSL", "CPublicSuffix", links: "ssl"),
        module(
            "PintleTools", on: "Pintle", "PintleCrypto", "PintleOpenSSL", "PintleReports",
            "PintleAttacks", "PintleStorage", "PintleSystem", "PintleTestKit", "PintleUpdates", "COpenSSL", "CExpat",
            // Becomes part of the program: there is no file to ship beside it.
            resources: [.embedInCode("Families/authorities.json")]),
        .executableTarget(name: "PintleCLI", dependencies: ["PintleSystem", "PintleTools"], swiftSettings: settings()),
    ]
}

/// Returns the targets of Linux: the tool, the session and the tests.
func linuxTargets() -> [Target] {
    toolTargets() + [
        system("CZlib", "zlib", apt: "zlib1g-dev"),
        module(
            "PintleURLSession", on: "Pintle", "PintleOpenSSL", "PintleReports", "PintleStorage", "PintleSystem",
            "PintleUpdates", "COpenSSL", "CCurl", "CZlib", exclude: ["Apple"]),
        // Each program kills itself halfway: in a change, in an adoption, while it stores or sends reports.
        victim("StorageVictim", on: "Pintle", "PintleStorage"),
        victim("UpdateVictim", on: "Pintle", "PintleStorage", "PintleUpdates"),
        victim("ReportVictim", on: "Pintle", "PintleReports", "PintleStorage"),
        // Real servers, a real interceptor and probes, for several of the tests below.
        module("PintleTestPeers", on: "COpenSSL", "PintleTestKit", in: "Tests"),
        // The program that attacks both adapters.
        module("AttackDemo", on: "PintleAttacks", "PintleURLSession", "PintleTestKit", in: "Tests"),
        tests("PintleTests", on: "Pintle", "PintleCrypto"),
        tests("PintleStorageTests", on: "Pintle", "PintleStorage", "PintleTestKit", "StorageVictim"),
        tests(
            "PintleOpenSSLTests", on: "COpenSSL", "Pintle", "PintleAttacks", "PintleStorage", "PintleOpenSSL",
            "PintleTestKit", "PintleTestPeers", exclude: ["limbo-exceptions.txt"]),
        tests(
            "PintleURLSessionTests", on: "AttackDemo", "COpenSSL", "Pintle", "PintleAttacks", "PintleCrypto",
            "PintleURLSession", "PintleStorage", "PintleOpenSSL", "PintleTestKit", "PintleTestPeers", "PintleReports",
            "PintleUpdates"),
        resourceTests(),
        tests("PintleTestKitTests", on: "PintleTestKit", "PintleTestPeers", "COpenSSL"),
        tests("PintleAttacksTests", on: "PintleAttacks", "PintleTestKit", "PintleTestPeers"),
        // The tests of an app, as the documentation shows them.
        tests("AppTests", on: "Pintle", "PintleOpenSSL", "PintleTestKit", "PintleURLSession", features: .none),
        tests(
            "PintleUpdatesTests", on: "Pintle", "PintleCrypto", "PintleStorage", "PintleTestKit", "PintleTestPeers",
            "PintleUpdates", "UpdateVictim"),
        tests(
            "PintleReportsTests", on: "Pintle", "PintleCrypto", "PintleOpenSSL", "PintleReports", "PintleStorage",
            "PintleTestKit", "PintleTestPeers", "ReportVictim"),
        tests(
            "PintleToolsTests", on: "Pintle", "PintleAttacks", "PintleOpenSSL", "PintleReports", "PintleTools",
            "PintleUpdates",
            "PintleTestKit", "PintleTestPeers"),
    ]
}

/// Returns the targets that exist on Apple's systems in addition to the shared ones.
func appleTargets() -> [Target] {
    appleSession() + [
        module("PintleCrypto", settings: apple), appleTestKit("PintleTestKit"),
        tests("PintleTests", on: "Pintle", "PintleCrypto"),
        tests("AppTests", on: "Pintle", "PintleApple", "PintleTestKit", "PintleURLSession", features: .none),
    ]
}

/// Returns the targets of Apple's systems for Linux, with stand-ins for Apple's modules. The tests of the core are left
/// out, because they run with the other targets.
func standInTargets() -> [Target] {
    appleSession(over: ["Network", "Security", "URLLoading", "WebKit", "os"]) + [
        module("PintleCrypto", on: "CryptoKit", settings: apple),
        // PintleTestKit as on Apple's systems. A symbolic link leads to its sources, because SwiftPM allows each file in
        // one target only. The tests also need PintleTestKit itself, for servers and keys of every kind.
        appleTestKit("TestKitOnApple", in: "Tests/StandIns", over: ["CryptoKit", "Security", "URLLoading"]),
        module("CryptoKit", on: "COpenSSL", in: "Tests/StandIns"), module("os", in: "Tests/StandIns"),
        module("Security", on: "COpenSSL", in: "Tests/StandIns", links: "ssl"),
        // What Apple's Foundation has in addition to Foundation for Linux.
        module("URLLoading", on: "COpenSSL", "CCurl", "Security", in: "Tests/StandIns"),
        module("Network", on: "Security", in: "Tests/StandIns"),
        module("WebKit", on: "URLLoading", in: "Tests/StandIns"),
        module(
            "Alamofire", on: "Security", "URLLoading", in: "Tests/StandIns", features: .publicImports, settings: loading
        ),
        module("Combine", in: "Tests/StandIns", features: .none),
        module("SwiftUI", on: "Combine", in: "Tests/StandIns", features: .none),
        module(
            "ClientModel", on: "PintleURLSession", "URLLoading", in: "Examples/Sources",
            features: .none, settings: [.enableUpcomingFeature("MemberImportVisibility")] + loading),
        .executableTarget(
            name: "AppViews", dependencies: ["ClientModel", "Combine", "PintleURLSession", "SwiftUI", "WebKit"],
            path: "Examples/App", exclude: ["README.md"], packageAccess: false,
            // The settings of a new project in Xcode 26.
            swiftSettings: settings(.none) + [.defaultIsolation(MainActor.self)]
                + ["MemberImportVisibility", "InferIsolatedConformances", "NonisolatedNonsendingByDefault"]
                .map { .enableUpcomingFeature($0) } + loading),
        module(
            "AttackDemo", on: "PintleAttacks", "PintleURLSession", "PintleTestKit", "URLLoading", in: "Tests",
            settings: apple),
        tests(
            "PintleAppleTests", on: "Alamofire", "AttackDemo", "Pintle", "PintleApple", "PintleCrypto", "PintleStorage",
            "PintleTestKit", "PintleURLSession", "PintleUpdates", "TestKitOnApple", "Network", "Security", "URLLoading",
            "WebKit", "os",
            // Only for the tests: the example code for Alamofire needs a module of that name.
            settings: [.define("PINTLE_ALAMOFIRE")] + loading),
        resourceTests(),
        // With the alias `import PintleTestKit` imports the module of Apple's systems.
        tests(
            "AppTests", on: "Pintle", "PintleApple", "PintleURLSession", "TestKitOnApple", features: .none,
            settings: [.unsafeFlags(["-module-alias", "PintleTestKit=TestKitOnApple"])] + loading),
    ]
}

/// Returns the session for Apple's systems, on the given stand-ins for Apple's modules.
func appleSession(over modules: [Target.Dependency] = []) -> [Target] {
    [
        module("PintleApple", on: "Pintle", "PintleStorage", and: modules, features: .publicImports, settings: apple),
        module(
            "PintleURLSession", on: "Pintle", "PintleApple", "PintleReports", "PintleStorage",
            "PintleUpdates", and: modules, exclude: ["Linux"],
            features: .publicImports, settings: apple),
    ]
}

/// Returns the test kit for Apple's systems, which mints certificates.
func appleTestKit(_ name: String, in folder: String? = nil, over modules: [Target.Dependency] = []) -> Target {
    module(name, on: "Pintle", "PintleCrypto", and: modules, in: folder, exclude: ["Linux"], settings: apple)
}

/// Returns the tests of resources and files, which both sessions read in the same way.
func resourceTests() -> Target {
    tests("PintleResourceTests", on: "PintleURLSession", "PintleTestKit", settings: apple)
}

func module(
    _ name: String, on dependencies: Target.Dependency..., and more: [Target.Dependency] = [], in folder: String? = nil,
    exclude: [String] = [], resources: [Resource] = [], features: Features = .all, settings own: [SwiftSetting] = [],
    links library: String? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies + more + (name.hasPrefix("Darwin") ? [] : standIn),
        path: folder.map { "\($0)/\(name)" }, exclude: exclude,
        resources: resources, packageAccess: features != .none, swiftSettings: settings(features) + own,
        linkerSettings: library.map { [.linkedLibrary($0)] })
}

/// Returns a product of SwiftNIO, for targets that need it only if the trait is on.
func nio(_ name: String, in package: String = "swift-nio") -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["NIO"]))
}

func tests(
    _ name: String, on dependencies: Target.Dependency..., exclude: [String] = [], features: Features = .all,
    settings own: [SwiftSetting] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclude, packageAccess: features != .none,
        swiftSettings: settings(features) + own)
}

/// Returns a program that kills itself halfway. Tests check the files that it leaves.
func victim(_ name: String, on dependencies: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings())
}

func system(_ name: String, _ pkgConfig: String, apt: String, brew: String? = nil) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew ?? pkgConfig])])
}
