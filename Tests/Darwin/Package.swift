// swift-tools-version: 6.2
import PackageDescription

// The command-line tool for macOS's C library, on Linux: the targets that Pintle's own Package.swift has on macOS, over
// the module Darwin in the folder beside this file. With PINTLE_OPENSSL=1 that is the whole tool, otherwise the part
// without OpenSSL, over the stand-in for CryptoKit. `make darwin` builds and runs both.
// SwiftPM takes no source from outside of a package, so Repository is a symbolic link.
let hasOpenSSL = Context.environment["PINTLE_OPENSSL"] == "1"
let isApple = !hasOpenSSL
let apple: [SwiftSetting] = isApple ? [.define("PINTLE_APPLE")] : []

var targets: [Target] = [
    .target(name: "DarwinTypes", path: "DarwinTypes"),
    .target(name: "Darwin", dependencies: ["DarwinTypes"], path: "Darwin"),
    system("COpenSSL", "libcrypto"), system("CExpat", "expat"),
    module("PintleCrypto", on: isApple ? "CryptoKit" : "COpenSSL"),
    module("Pintle", on: "PintleCrypto"),
    module("PintlePolicyFile", on: "Pintle", "PintleCrypto"),
    module("PintleSystem", exclude: isApple ? ["Linux"] : []),
    module("PintleProcess", on: "PintleSystem"),
    module("PintleEvents", on: "Pintle", "PintleSystem", and: isApple ? ["os"] : []),
    module("PintleText", on: "Pintle", "PintleSystem"),
    module(
        "PintleStorage", on: "Pintle", "PintlePolicyFile", "PintleSystem", and: isApple ? [] : ["PintleSuffixes"],
        exclude: ["PrivacyInfo.xcprivacy"]),
    module(
        "PintlePolicyLint", on: "Pintle", "PintlePolicyFile", "PintleStorage", "PintleSystem", "PintleText",
        resources: [.embedInCode("authorities.json")]),
    module(
        "PintleUpdates", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "PintleStorage", "PintleSystem",
        // Needs the Keychain, and is for apps.
        exclude: ["Apple"]),
    module(
        "PintleReports", on: "Pintle", "PintleCrypto", "PintleEvents", "PintlePolicyFile", "PintleStorage",
        "PintleSystem"),
    module(
        "PintleConsole", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "PintleProcess", "PintleStorage",
        "PintleSystem", "PintleText"),
    module(
        "PintlePolicyTools", on: "Pintle", "PintleConsole", "PintleCrypto", "PintleEvents", "PintlePolicyFile",
        "PintlePolicyLint", "PintleProcess", "PintleReports", "PintleStorage", "PintleSystem", "PintleText",
        "PintleUpdates", "CExpat", and: isApple ? ["CryptoKit"] : [],
        exclude: isApple ? [] : ["Apple"]),
    program(
        "PintleCLI", on: "PintleConsole", "PintlePolicyTools", "PintleSystem", and: isApple ? [] : ["PintleTools"],
        in: "Sources"),
]

if hasOpenSSL {
    targets += [
        system("CPublicSuffix", "libpsl"),
        module("PintleSuffixes", on: "CPublicSuffix"),
        module("PintleOpenSSL", on: "Pintle", "PintleSuffixes", "PintleSystem", "COpenSSL", links: "ssl"),
        module("PintleTLSClient", on: "Pintle", "PintleOpenSSL", "PintleStorage", "PintleSystem", "COpenSSL"),
        module(
            "PintleTestKit", on: "PintleCrypto", "PintleProcess", "PintleSystem", "COpenSSL", exclude: ["Apple"],
            links: "ssl"),
        module("PintleAttacks", on: "COpenSSL", "Pintle", "PintleSystem", "PintleTestKit"),
        module(
            "PintleTools", on: "Pintle", "PintleAttacks", "PintleConsole", "PintleCrypto", "PintleEvents",
            "PintleOpenSSL", "PintlePolicyFile", "PintlePolicyLint", "PintlePolicyTools", "PintleProcess",
            "PintleReports", "PintleStorage", "PintleSuffixes", "PintleSystem", "PintleTLSClient", "PintleTestKit",
            "PintleText", "PintleUpdates", "COpenSSL"),
        module("SystemClaims", on: "PintleProcess", "PintleSystem", "PintleTestKit", in: "Tests"),
        program("SystemProbe", on: "PintleSystem", "SystemClaims", in: "Tests"),
    ]
}
if isApple { targets += [standIn("CryptoKit", on: "COpenSSL"), standIn("os")] }

let package = Package(
    name: "darwin", products: [.executable(name: "pintle", targets: ["PintleCLI"])], targets: targets,
    swiftLanguageModes: [.v6])

func module(
    _ name: String, on dependencies: Target.Dependency..., and others: [Target.Dependency] = [],
    in folder: String = "Sources", exclude: [String] = [], resources: [Resource] = [], links library: String? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies + others + ["Darwin"], path: "Repository/\(folder)/\(name)",
        exclude: exclude, resources: resources, swiftSettings: settings() + apple,
        linkerSettings: library.map { [.linkedLibrary($0)] })
}

func program(
    _ name: String, on dependencies: Target.Dependency..., and others: [Target.Dependency] = [], in folder: String
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + others + ["Darwin"], path: "Repository/\(folder)/\(name)",
        swiftSettings: settings() + apple)
}

func standIn(_ name: String, on dependencies: Target.Dependency...) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Repository/Tests/StandIns/\(name)", swiftSettings: settings())
}

func system(_ name: String, _ pkgConfig: String) -> Target {
    .systemLibrary(name: name, path: "Repository/Sources/\(name)", pkgConfig: pkgConfig)
}

func settings() -> [SwiftSetting] {
    let warnings = Context.environment["PINTLE_WARNINGS_AS_ERRORS"] == "1"
    return ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"].map { .enableUpcomingFeature($0) }
        + (warnings ? [.treatAllWarnings(as: .error)] : [])
}
