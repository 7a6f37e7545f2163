// swift-tools-version: 6.2
import PackageDescription

// Programs outside of the package: they use only Pintle's products.
var targets: [Target] = [
    // The same program twice, with one line changed.
    .executableTarget(name: "Stock"),
    .executableTarget(
        name: "Pinned",
        dependencies: [
            .product(name: "PintlePolicyFile", package: "pintle"),
            .product(name: "PintleURLSession", package: "pintle"),
        ]),
    // Shared by the app in App/ and the command line: requests, questions to the user, policy changes.
    .target(
        name: "ClientModel",
        dependencies: [
            .product(name: "PintlePolicyFile", package: "pintle"),
            .product(name: "PintleStorage", package: "pintle"),
            .product(name: "PintleURLSession", package: "pintle"),
        ]),
    .executableTarget(name: "Client", dependencies: ["ClientModel"]),
]

// The test kit's servers need OpenSSL.
#if os(Linux)
targets += [
    // Shows a client certificate to a pinned server.
    .executableTarget(
        name: "ClientCertificate",
        dependencies: [
            .product(name: "PintleStorage", package: "pintle"),
            .product(name: "PintleURLSession", package: "pintle"),
        ]),
    // Every style of task, against the right server and an interceptor.
    .executableTarget(
        name: "EveryStyle",
        dependencies: [
            .product(name: "PintlePolicyFile", package: "pintle"),
            .product(name: "PintleURLSession", package: "pintle"),
            .product(name: "PintleTestKit", package: "pintle"),
        ]
    ),
    // Threads, descriptors and memory.
    .executableTarget(
        name: "Endurance",
        dependencies: [
            .product(name: "PintlePolicyFile", package: "pintle"),
            .product(name: "PintleStorage", package: "pintle"),
            .product(name: "PintleURLSession", package: "pintle"),
            .product(name: "PintleTestKit", package: "pintle"),
        ]
    ),
]
#endif

let package = Package(
    name: "examples",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    dependencies: [.package(name: "pintle", path: "..")],
    targets: targets,
    swiftLanguageModes: [.v6]
)
