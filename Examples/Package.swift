// swift-tools-version: 6.2
import PackageDescription

// Programs of somebody else's: all they have of Pintle is its products.
let package = Package(
    name: "examples",
    dependencies: [.package(name: "pintle", path: "..")],
    targets: [
        // The same program twice; one line of it differs.
        .executableTarget(name: "Stock"),
        .executableTarget(
            name: "Pinned", dependencies: [.product(name: "PintleURLSession", package: "pintle")]),
        // Every style of task, before the right server and before an interceptor.
        .executableTarget(
            name: "EveryStyle",
            dependencies: [
                .product(name: "PintleURLSession", package: "pintle"),
                .product(name: "PintleTestKit", package: "pintle"),
            ]
        ),
        // What the app in App/ and the command line share: requests, questions to a person, rotation.
        .target(
            name: "ClientModel", dependencies: [.product(name: "PintleURLSession", package: "pintle")]),
        .executableTarget(name: "Client", dependencies: ["ClientModel"]),
        // Threads, descriptors and memory.
        .executableTarget(
            name: "Endurance",
            dependencies: [
                .product(name: "PintleURLSession", package: "pintle"),
                .product(name: "PintleTestKit", package: "pintle"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
