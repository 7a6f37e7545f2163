// swift-tools-version: 6.2
import PackageDescription

// Pintle: certificate pinning (SSL pinning, public key pinning) for iOS, macOS, tvOS, watchOS, visionOS and Linux.
//
// On Linux the package has a session over libcurl and OpenSSL, and the command-line tool. On Apple's systems it has the
// session and the trust of the system. With PINTLE_OPENSSL=1 macOS has the tool, with OpenSSL, and no session, because
// macOS has no libcurl with OpenSSL. Tests/StandIns and Tests/Darwin build the targets of these two on Linux. Sources
// ask `#if PINTLE_APPLE` for Apple's side, not `canImport`, whose result depends on earlier builds.
#if os(Linux)
let hasOpenSSL = true
let hasSession = true
#else
let hasOpenSSL = Context.environment["PINTLE_OPENSSL"] == "1"
let hasSession = !hasOpenSSL
#endif
let isApple = !hasOpenSSL
let isLinux = hasOpenSSL && hasSession
let apple: [SwiftSetting] = isApple ? [.define("PINTLE_APPLE")] : []

/// The upcoming features of a target. Targets built like an app's code have none, and no access to `package` names. The
/// two modules of Apple's session write the access level of each import that is not public.
enum Features { case all, publicImports, none }

// Apple requires a privacy manifest in each module that uses certain API; the article on Apple's systems names that
// API. On Linux it is excluded, because SwiftPM puts a resource into a bundle that must be shipped with the program.
let privacy = "PrivacyInfo.xcprivacy"

// The libraries of all systems.
var libraries = [
    "Pintle", "PintlePolicyFile", "PintleEvents", "PintleStorage", "PintleResources", "PintleUpdates", "PintleReports",
    "PintleTestKit",
]
var targets = [
    module("Pintle", on: "PintleCrypto"),
    module("PintlePolicyFile", on: "Pintle", "PintleCrypto"),
    // With Apple's session only the C library and threads.
    module("PintleSystem", exclude: isApple ? ["Linux"] : []),
    module("PintleEvents", on: "Pintle", "PintleSystem", settings: apple),
    // The texts and the search for mistakes that the tool and the plug-in PintlePolicyCheck share.
    module("PintleText", on: "Pintle", "PintleSystem"),
    module(
        "PintlePolicyLint", on: "Pintle", "PintlePolicyFile", "PintleStorage", "PintleSystem", "PintleText",
        // Becomes part of the program: there is no file to ship beside it.
        resources: [.embedInCode("authorities.json")]),
    // The plug-in that checks the policy file of a target when it is built, and its program.
    program(
        "PintlePolicyChecker", on: "Pintle", "PintlePolicyLint", "PintleStorage", "PintleSystem", "PintleText",
        in: "Sources"),
    .plugin(name: "PintlePolicyCheck", capability: .buildTool(), dependencies: ["PintlePolicyChecker"]),
    module(
        "PintleStorage", on: "Pintle", "PintlePolicyFile", "PintleSystem", and: isApple ? [] : ["PintleSuffixes"],
        exclude: isApple ? [] : [privacy], resources: isApple ? [.copy(privacy)] : [], settings: apple),
    // Apart from PintleStorage, because `Bundle` loads all of Foundation, and most programs do without it.
    module("PintleResources", on: "Pintle", "PintlePolicyFile", "PintleStorage"),
    module(
        "PintleUpdates", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "PintleStorage", "PintleSystem",
        exclude: isApple ? [] : ["Apple"]),
    module(
        "PintleReports", on: "Pintle", "PintleCrypto", "PintleEvents", "PintlePolicyFile", "PintleStorage",
        "PintleSystem"),
]
// The tool. On Apple's systems it is for macOS, without the commands that connect to servers. No library needs one of
// these targets.
var programs: [Product] = [.executable(name: "pintle", targets: ["PintleCLI"])]
targets += [
    // The SDK of macOS has expat.
    isApple ? .systemLibrary(name: "CExpat") : system("CExpat", "expat", apt: "libexpat1-dev"),
    // Arguments, environment, standard streams and signals of the running program.
    module("PintleProcess", on: "PintleSystem"),
    // Commands, options, help and output, without a command.
    module(
        "PintleConsole", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "PintleProcess", "PintleStorage",
        "PintleSystem", "PintleText"),
    // The commands that need no TLS. No OpenSSL here, so that they can be built where there is none.
    module(
        "PintlePolicyTools", on: "Pintle", "PintleConsole", "PintleCrypto", "PintleEvents", "PintlePolicyFile",
        "PintlePolicyLint", "PintleProcess", "PintleReports", "PintleStorage", "PintleSystem", "PintleText",
        "PintleUpdates", "CExpat",
        exclude: isApple ? [] : ["Apple"], settings: apple),
    program(
        "PintleCLI", on: "PintleConsole", "PintlePolicyTools", "PintleSystem", and: isApple ? [] : ["PintleTools"],
        in: "Sources", settings: apple),
    // A command that runs the tool. Only a package whose user gives it builds the tool.
    .plugin(
        name: "PintlePins",
        capability: .command(
            intent: .custom(verb: "pins", description: "Check the policies of a package, and show the pins of files")),
        dependencies: ["PintleCLI"]),
]

// The targets that need OpenSSL, and the commands that connect to servers.
if hasOpenSSL {
    libraries.append("PintleOpenSSL")
    programs += [
        // Not for users: the nested packages that fuzz and measure the tool can only reach products.
        .library(
            name: "_PintleTools", targets: ["PintleConsole", "PintlePolicyLint", "PintlePolicyTools", "PintleTools"])
    ]
    targets += [
        system("COpenSSL", "libcrypto", apt: "libssl-dev", brew: "openssl@3"),
        system("CPublicSuffix", "libpsl", apt: "libpsl-dev"),
        module("PintleCrypto", on: "COpenSSL"),
        module("PintleSuffixes", on: "CPublicSuffix"),
        // Links ssl here, not in COpenSSL, because the core needs only libcrypto.
        module("PintleOpenSSL", on: "Pintle", "PintleSuffixes", "PintleSystem", "COpenSSL", links: "ssl"),
        // The tool's own TLS client: TCP, proxies and handshakes without HTTP. It is not a product.
        module("PintleTLSClient", on: "Pintle", "PintleOpenSSL", "PintleStorage", "PintleSystem", "COpenSSL"),
        // Certificates, loopback servers and processes.
        module(
            "PintleTestKit", on: "PintleCrypto", "PintleProcess", "PintleSystem", "COpenSSL", exclude: ["Apple"],
            links: "ssl"),
        // The attacks of `pintle rehearse` and of the tests. It is not a product.
        module("PintleAttacks", on: "COpenSSL", "Pintle", "PintleSystem", "PintleTestKit"),
        // The other commands, and the libraries behind all of them.
        module(
            "PintleTools", on: "Pintle", "PintleAttacks", "PintleConsole", "PintleCrypto", "PintleEvents",
            "PintleOpenSSL", "PintlePolicyFile", "PintlePolicyLint", "PintlePolicyTools", "PintleProcess",
            "PintleReports", "PintleStorage", "PintleSuffixes", "PintleSystem", "PintleTLSClient", "PintleTestKit",
            "PintleText", "PintleUpdates", "COpenSSL"),
        module("SystemClaims", on: "PintleProcess", "PintleSystem", "PintleTestKit", in: "Tests"),
        tests("PintleSystemTests", on: "SystemClaims"),
    ]
}

// Linux's session, and the tests.
if isLinux {
    targets += [
        system("CCurl", "libcurl", apt: "libcurl4-openssl-dev"), system("CZlib", "zlib", apt: "zlib1g-dev"),
        module(
            "PintleURLSession", on: "Pintle", "PintleEvents", "PintleOpenSSL", "PintleSuffixes", "PintleSystem",
            "COpenSSL", "CCurl", "CZlib", exclude: ["Apple"]),
        // Each program kills itself halfway: in a change, in an adoption, while it stores or sends reports. Tests check
        // the files that it leaves.
        program("StorageVictim", on: "Pintle", "PintlePolicyFile", "PintleStorage", in: "Tests"),
        program("UpdateVictim", on: "Pintle", "PintlePolicyFile", "PintleStorage", "PintleUpdates", in: "Tests"),
        program(
            "ReportVictim", on: "Pintle", "PintleEvents", "PintlePolicyFile", "PintleReports", "PintleStorage",
            in: "Tests"),
        // Real servers, a real interceptor and probes, for several of the tests below.
        module("PintleTestPeers", on: "COpenSSL", "PintleTestKit", in: "Tests"),
        module("SpecificationVectors", in: "Tests"),
        // Paths and verdicts of Apple's own tests, for the tests of both systems.
        module("TrustTables", on: "PintleTestKit", in: "Tests", exclude: ["TrustTables.md"]),
        // The program that attacks both adapters.
        module("AttackDemo", on: "PintleAttacks", "PintleStorage", "PintleURLSession", "PintleTestKit", in: "Tests"),
        tests("PintleTests", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "SpecificationVectors"),
        tests(
            "PintleStorageTests", on: "Pintle", "PintlePolicyFile", "PintleStorage", "PintleTestKit", "StorageVictim"),
        tests(
            "PintleOpenSSLTests", on: "COpenSSL", "Pintle", "PintleAttacks", "PintlePolicyFile", "PintleStorage",
            "PintleOpenSSL", "PintleSuffixes", "PintleSystem", "PintleTLSClient", "PintleTestKit", "PintleTestPeers",
            exclude: ["limbo-exceptions.txt"]),
        tests(
            "PintleURLSessionTests", on: "AttackDemo", "COpenSSL", "Pintle", "PintleAttacks", "PintleCrypto",
            "CCurl", "PintleEvents", "PintlePolicyFile", "PintleRemote", "PintleResources", "PintleURLSession",
            "PintleStorage", "PintleOpenSSL",
            "PintleSuffixes", "PintleTLSClient", "PintleTestKit", "PintleTestPeers", "PintleReports", "PintleUpdates"),
        tests(
            "PintleResourceTests", on: "PintlePolicyFile", "PintleResources", "PintleStorage", "PintleURLSession",
            "PintleTestKit"),
        tests("PintleTestKitTests", on: "PintleSystem", "PintleTestKit", "PintleTestPeers", "COpenSSL"),
        tests("PintleAttacksTests", on: "PintleAttacks", "PintleTestKit", "PintleTestPeers"),
        // The tests of an app, as the documentation shows them.
        tests("AppTests", on: "Pintle", "PintleOpenSSL", "PintleTestKit", "PintleURLSession", features: .none),
        tests(
            "PintleUpdatesTests", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "PintleStorage", "PintleTestKit",
            "PintleTestPeers", "PintleUpdates", "SpecificationVectors", "UpdateVictim"),
        tests(
            "PintleReportsTests", on: "Pintle", "PintleCrypto", "PintleEvents", "PintleOpenSSL", "PintlePolicyFile",
            "PintleReports", "PintleStorage", "PintleTestKit", "PintleTestPeers", "ReportVictim"),
        tests(
            "PintleToolsTests", on: "Pintle", "PintleAttacks", "PintleConsole", "PintleEvents", "PintleOpenSSL",
            "PintlePolicyFile", "PintlePolicyLint", "PintlePolicyTools", "PintleReports", "PintleTLSClient",
            "PintleText", "PintleTools", "PintleUpdates", "PintleTestKit", "PintleTestPeers", "TrustTables"),
    ]
}

// The session of Apple's systems, and the tests that need no server.
if isApple {
    libraries.append("PintleApple")
    targets += [
        module("PintleCrypto", settings: apple),
        module("PintleApple", on: "Pintle", features: .publicImports, settings: apple),
        module(
            "PintleURLSession", on: "Pintle", "PintleApple", "PintleEvents", exclude: ["Linux"],
            features: .publicImports, settings: apple),
        module("PintleTestKit", on: "Pintle", "PintleCrypto", exclude: ["Linux"], settings: apple),
        module("SpecificationVectors", in: "Tests"),
        tests("PintleTests", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "SpecificationVectors"),
        tests("AppTests", on: "Pintle", "PintleApple", "PintleTestKit", "PintleURLSession", features: .none),
    ]
}

// SwiftNIO is fetched only if the trait NIO is on, here or in a package that depends on this one.
var dependencies: [Package.Dependency] = []
if hasSession {
    libraries += ["PintleURLSession", "PintleRemote", "PintleNIO"]
    dependencies = [
        // The first version of NIOSSL whose callback also takes the validated path.
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.34.0"),
    ]
    targets += [
        // Updates and reports over sessions of PintleURLSession.
        module(
            "PintleRemote", on: "Pintle", "PintleEvents", "PintlePolicyFile", "PintleReports", "PintleStorage",
            "PintleURLSession", "PintleUpdates", settings: apple),
        module(
            "PintleNIO", on: "Pintle", isApple ? "PintleApple" : "PintleOpenSSL", "PintleEvents",
            nio("NIOCore"), nio("NIOPosix"), nio("NIOTLS"), nio("NIOSSL", in: "swift-nio-ssl"), settings: apple),
    ]
}

let package = Package(
    name: "pintle",
    // The tool uses the module Synchronization.
    platforms: hasSession ? [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)] : [.macOS(.v15)],
    products: libraries.map { .library(name: $0, targets: [$0]) } + programs
        + ["PintlePolicyCheck", "PintlePins"].map { .plugin(name: $0, targets: [$0]) },
    traits: [.trait(name: "NIO", description: "Builds PintleNIO, and fetches swift-nio and swift-nio-ssl for it.")],
    dependencies: dependencies,
    targets: targets,
    swiftLanguageModes: [.v6]
)

func module(
    _ name: String, on dependencies: Target.Dependency..., and others: [Target.Dependency] = [],
    in folder: String? = nil,
    exclude: [String] = [], resources: [Resource] = [], features: Features = .all, settings own: [SwiftSetting] = [],
    links library: String? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies + others, path: folder.map { "\($0)/\(name)" }, exclude: exclude,
        resources: resources, packageAccess: features != .none, swiftSettings: settings(features) + own,
        linkerSettings: library.map { [.linkedLibrary($0)] })
}

func tests(
    _ name: String, on dependencies: Target.Dependency..., exclude: [String] = [], features: Features = .all
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclude, packageAccess: features != .none,
        swiftSettings: settings(features))
}

func program(
    _ name: String, on dependencies: Target.Dependency..., and others: [Target.Dependency] = [], in folder: String,
    settings own: [SwiftSetting] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + others, path: "\(folder)/\(name)",
        swiftSettings: settings(.all) + own)
}

func system(_ name: String, _ pkgConfig: String, apt: String, brew: String? = nil) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew ?? pkgConfig])])
}

/// Returns a product of SwiftNIO, for targets that need it only if the trait is on.
func nio(_ name: String, in package: String = "swift-nio") -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["NIO"]))
}

/// Returns the settings that all targets share.
func settings(_ features: Features) -> [SwiftSetting] {
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
