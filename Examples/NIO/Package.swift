// swift-tools-version: 6.2
import PackageDescription

// Clients over SwiftNIO. This is a package of its own, because it turns on the trait NIO, which fetches SwiftNIO.
let package = Package(
    name: "nio-examples",
    platforms: [.macOS(.v12)],
    dependencies: [
        .package(name: "pintle", path: "../..", traits: ["NIO"]),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.34.0"),
    ],
    targets: [
        // One request over a pinned channel.
        .target(
            name: "HTTPClient",
            dependencies: [
                .product(name: "PintleNIO", package: "pintle"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .executableTarget(
            name: "Client",
            dependencies: [
                "HTTPClient", .product(name: "PintleOpenSSL", package: "pintle"),
                .product(name: "PintleStorage", package: "pintle"),
            ]),
        // A service and its clients, with messages framed as gRPC does.
        .executableTarget(
            name: "Echo",
            dependencies: [
                .product(name: "PintleNIO", package: "pintle"), .product(name: "PintleStorage", package: "pintle"),
                .product(name: "PintleTestKit", package: "pintle"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        // The snippets of the documentation.
        .target(
            name: "PinnedChannel",
            dependencies: [
                .product(name: "PintleNIO", package: "pintle"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            swiftSettings: [.define("NIO")]),
        // A web socket over a pinned channel.
        .executableTarget(
            name: "Socket",
            dependencies: [
                "PinnedChannel", .product(name: "PintleOpenSSL", package: "pintle"),
                .product(name: "PintleStorage", package: "pintle"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .testTarget(
            name: "PintleNIOTests",
            dependencies: [
                "HTTPClient", .product(name: "PintleEvents", package: "pintle"),
                .product(name: "PintleNIO", package: "pintle"),
                .product(name: "PintlePolicyFile", package: "pintle"),
                .product(name: "PintleOpenSSL", package: "pintle"),
                .product(name: "PintleReports", package: "pintle"), .product(name: "PintleStorage", package: "pintle"),
                .product(name: "PintleTestKit", package: "pintle"),
                .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
