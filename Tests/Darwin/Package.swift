// swift-tools-version: 6.2
import PackageDescription

// The command-line tool for macOS's C library, on Linux: the targets that Pintle's own Package.swift has on macOS with
// PINTLE_OPENSSL=1, over the module Darwin in the folder beside this file. `make darwin` builds and runs it.
// SwiftPM takes no source from outside of a package, so Repository is a symbolic link.
let package = Package(
    name: "darwin",
    products: [.executable(name: "pintle", targets: ["PintleCLI"])],
    targets: [
        .target(name: "DarwinTypes", path: "DarwinTypes"),
        .target(name: "Darwin", dependencies: ["DarwinTypes"], path: "Darwin"),
        system("COpenSSL", "libcrypto"), system("CPublicSuffix", "libpsl"), system("CExpat", "expat"),
        module("PintleCrypto", on: "COpenSSL"),
        module("Pintle", on: "PintleCrypto"),
        module("PintlePolicyFile", on: "Pintle", "PintleCrypto"),
        module("PintleSystem"),
        module("PintleEvents", on: "Pintle", "PintleSystem"),
        module("PintleSuffixes", on: "CPublicSuffix"),
        module(
            "PintleStorage", on: "Pintle", "PintlePolicyFile", "PintleSuffixes", "PintleSystem",
            exclude: ["PrivacyInfo.xcprivacy"]),
        module(
            "PintleUpdates", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "PintleStorage", "PintleSystem",
            exclude: ["Apple"]),
        module(
            "PintleReports", on: "Pintle", "PintleCrypto", "PintleEvents", "PintlePolicyFile", "PintleStorage",
            "PintleSystem"),
        module("PintleOpenSSL", on: "Pintle", "PintleSuffixes", "PintleSystem", "COpenSSL", links: "ssl"),
        module("PintleTLSClient", on: "Pintle", "PintleOpenSSL", "PintleStorage", "PintleSystem", "COpenSSL"),
        module("PintleTestKit", on: "PintleCrypto", "PintleSystem", "COpenSSL", exclude: ["Apple"], links: "ssl"),
        module("PintleAttacks", on: "COpenSSL", "Pintle", "PintleSystem", "PintleTestKit"),
        module("PintleConsole", on: "Pintle", "PintleCrypto", "PintlePolicyFile", "PintleStorage", "PintleSystem"),
        module(
            "PintlePolicyTools", on: "Pintle", "PintleConsole", "PintleCrypto", "PintleEvents", "PintlePolicyFile",
            "PintleReports", "PintleStorage", "PintleSystem", "PintleUpdates", "CExpat",
            resources: [.embedInCode("Families/authorities.json")]),
        module(
            "PintleTools", on: "Pintle", "PintleAttacks", "PintleConsole", "PintleCrypto", "PintleEvents",
            "PintleOpenSSL", "PintlePolicyFile", "PintlePolicyTools", "PintleReports", "PintleStorage",
            "PintleSuffixes", "PintleSystem", "PintleTLSClient", "PintleTestKit", "PintleUpdates", "COpenSSL"),
        module("SystemClaims", on: "PintleSystem", "PintleTestKit", in: "Tests"),
        program("PintleCLI", on: "PintleConsole", "PintleSystem", "PintleTools", in: "Sources"),
        program("SystemProbe", on: "PintleSystem", "SystemClaims", in: "Tests"),
    ],
    swiftLanguageModes: [.v6]
)

func module(
    _ name: String, on dependencies: Target.Dependency..., in folder: String = "Sources", exclude: [String] = [],
    resources: [Resource] = [], links library: String? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies + ["Darwin"], path: "Repository/\(folder)/\(name)", exclude: exclude,
        resources: resources, swiftSettings: settings(), linkerSettings: library.map { [.linkedLibrary($0)] })
}

func program(_ name: String, on dependencies: Target.Dependency..., in folder: String) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + ["Darwin"], path: "Repository/\(folder)/\(name)",
        swiftSettings: settings())
}

func system(_ name: String, _ pkgConfig: String) -> Target {
    .systemLibrary(name: name, path: "Repository/Sources/\(name)", pkgConfig: pkgConfig)
}

func settings() -> [SwiftSetting] {
    let warnings = Context.environment["PINTLE_WARNINGS_AS_ERRORS"] == "1"
    return ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"].map { .enableUpcomingFeature($0) }
        + (warnings ? [.treatAllWarnings(as: .error)] : [])
}
