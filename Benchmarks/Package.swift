// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v12)],
    products: [.library(name: "AllocationCounter", type: .dynamic, targets: ["CAllocationCounter"])],
    dependencies: [.package(name: "pintle", path: "..")],
    targets: [
        .target(
            name: "CBaselines",
            linkerSettings: [.linkedLibrary("crypto"), .linkedLibrary("ssl")]
        ),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "CAllocationCounter", "CBaselines",
                .product(name: "Pintle", package: "pintle"),
                .product(name: "PintleOpenSSL", package: "pintle"),
                .product(name: "PintlePolicyFile", package: "pintle"),
                .product(name: "PintleStorage", package: "pintle"),
                .product(name: "PintleUpdates", package: "pintle"),
                .product(name: "_PintleTools", package: "pintle"),
            ]
        ),
        .target(name: "CAllocationCounter"),
        .executableTarget(name: "CAudit", linkerSettings: [.linkedLibrary("crypto"), .linkedLibrary("ssl")]),
        .target(name: "CCurlClient", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "SessionBench",
            dependencies: [
                "CCurlClient",
                .product(name: "PintlePolicyFile", package: "pintle"),
                .product(name: "PintleStorage", package: "pintle"),
                .product(name: "PintleURLSession", package: "pintle"),
                .product(name: "PintleTestKit", package: "pintle"),
            ]
        ),
        .executableTarget(name: "CPinProcess", linkerSettings: [.linkedLibrary("crypto")]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)
