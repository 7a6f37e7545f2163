// swift-tools-version: 6.2
import PackageDescription

// Programs of somebody else's: all they have of Pintle is its products.
var targets: [Target] = [
    // The same program twice; one line of it differs.
    .executableTarget(name: "Stock"),
    .executableTarget(
        name: "Pinned", dependencies: [.product(name: "PintleURLSession", package: "pintle")]),
    // What the app in App/ and the command line share: requests, questions to a person, rotation.
    .target(
        name: "ClientModel", dependencies: [.product(name: "PintleURLSession", package: "pintle")]),
    .executableTarget(name: "Client", dependencies: ["ClientModel"]),
]

// The servers of the test kit stand on OpenSSL.
#if os(Linux)
targets += [
    // Every style of task, before the right server and before an interceptor.
    .executableTarget(
        name: "EveryStyle",
        dependencies: [
            .product(name: "PintleURLSession", package: "pintle"),
            .product(name: "PintleTestKit", package: "pintle"),
        ]
    ),
    // Threads, descriptors and memory.
    .executableTarget(
        name: "Endurance",
        dependencies: [
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
