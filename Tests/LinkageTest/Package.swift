// swift-tools-version: 6.2
import PackageDescription

// Two programs whose libraries Scripts/linkage.sh reads: one that uses the core alone, and one that
// also validates paths, which shows that the script would see what the first must not have.
let package = Package(
    name: "LinkageTest",
    dependencies: [.package(name: "pintle", path: "../..")],
    targets: [
        .executableTarget(name: "CoreOnly", dependencies: [.product(name: "Pintle", package: "pintle")]),
        .executableTarget(
            name: "Adapter",
            dependencies: [
                .product(name: "Pintle", package: "pintle"), .product(name: "PintleOpenSSL", package: "pintle"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
