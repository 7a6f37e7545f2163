// swift-tools-version: 6.2
import PackageDescription

// The programs whose linked libraries Scripts/linkage.sh checks. They use only the core, policy files,
// updates, reports, path validation, and a pinned session. The one with path validation shows that the script would
// detect libraries that the others must not link.
let package = Package(
    name: "LinkageTest",
    dependencies: [.package(name: "pintle", path: "../..")],
    targets: [
        .executableTarget(
            name: "CoreOnly",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintlePolicyFile", package: "pintle"),
            ]
        ),
        .executableTarget(
            name: "Updater",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintlePolicyFile", package: "pintle"),
                .product(name: "PintleStorage", package: "pintle"), .product(name: "PintleUpdates", package: "pintle"),
            ]
        ),
        .executableTarget(
            name: "Reporter",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintleEvents", package: "pintle"),
                .product(name: "PintlePolicyFile", package: "pintle"),
                .product(name: "PintleReports", package: "pintle"),
            ]
        ),
        .executableTarget(
            name: "Adapter",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintleOpenSSL", package: "pintle"),
                .product(name: "PintlePolicyFile", package: "pintle"),
            ]
        ),
        .executableTarget(
            name: "Session",
            dependencies: [
                .product(name: "PintlePolicyFile", package: "pintle"),
                .product(name: "PintleURLSession", package: "pintle"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
