// swift-tools-version: 6.2
import PackageDescription

// The programs whose linked libraries Scripts/linkage.sh checks, each with only the products and the imports that the
// documentation names: the core, updates, reports, path validation, and a pinned session. The one with path validation
// shows that the script would detect libraries that the others must not link.
let settings = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"].map { feature in
    SwiftSetting.enableUpcomingFeature(feature)
}

let package = Package(
    name: "LinkageTest",
    dependencies: [.package(name: "pintle", path: "../..")],
    targets: [
        .executableTarget(
            name: "CoreOnly", dependencies: [.product(name: "Pintle", package: "pintle")], swiftSettings: settings
        ),
        .executableTarget(
            name: "Updater",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintlePolicyFile", package: "pintle"),
                .product(name: "PintleStorage", package: "pintle"), .product(name: "PintleUpdates", package: "pintle"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Reporter",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintleEvents", package: "pintle"),
                .product(name: "PintlePolicyFile", package: "pintle"),
                .product(name: "PintleReports", package: "pintle"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Adapter", dependencies: [.product(name: "PintleOpenSSL", package: "pintle")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Session", dependencies: [.product(name: "PintleURLSession", package: "pintle")],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
