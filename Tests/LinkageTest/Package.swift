// swift-tools-version: 6.2
import PackageDescription

// Programs whose libraries Scripts/linkage.sh reads: one that uses the core alone, one that also keeps
// updates, one that also keeps reports, and one that also validates paths, which shows that the script
// would see what the others must not have; and one with a pinned session.
let package = Package(
    name: "LinkageTest",
    dependencies: [.package(name: "pintle", path: "../..")],
    targets: [
        .executableTarget(name: "CoreOnly", dependencies: [.product(name: "Pintle", package: "pintle")]),
        .executableTarget(
            name: "Updater",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintleUpdates", package: "pintle"),
            ]
        ),
        .executableTarget(
            name: "Reporter",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintleReports", package: "pintle"),
            ]
        ),
        .executableTarget(
            name: "Adapter",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintleOpenSSL", package: "pintle"),
            ]
        ),
        .executableTarget(
            name: "Session", dependencies: [.product(name: "PintleURLSession", package: "pintle")]),
    ],
    swiftLanguageModes: [.v6]
)
