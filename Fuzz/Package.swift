// swift-tools-version: 6.2
import PackageDescription

// Each folder of Sources is an executable for one parser of foreign bytes. Fuzz/run.sh builds them with coverage in
// every module, links libFuzzer's main, and enables @testable, because the entry points are internal.
let entries = [
    "Approvals", "Arguments", "Audit", "Base64", "Batch", "Certificate", "DER", "Dates", "Envelope", "Families",
    "Fields", "ForeignXML", "HTTP2", "Heads", "Identities", "JSON", "Keys", "Messages",
    "Names", "PEM", "Path", "Payload", "Pins", "Plan", "Policy", "Proxies", "Redirects", "Spool",
    "Sync",
]

let modules: [Target.Dependency] = [
    .product(name: "Pintle", package: "pintle"),
    .product(name: "PintleEvents", package: "pintle"),
    .product(name: "PintleOpenSSL", package: "pintle"),
    .product(name: "PintlePolicyFile", package: "pintle"),
    .product(name: "PintleRemote", package: "pintle"),
    .product(name: "PintleStorage", package: "pintle"),
    .product(name: "PintleURLSession", package: "pintle"),
    .product(name: "PintleReports", package: "pintle"),
    .product(name: "PintleUpdates", package: "pintle"),
    .product(name: "PintleTestKit", package: "pintle"),
    .product(name: "_PintleTools", package: "pintle"),
]
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "pintle", path: "..")],
    targets: [
        // The claims that the entries for foreign formats share.
        .target(name: "ForeignClaims", dependencies: modules, path: "Claims", swiftSettings: strict)
    ]
        + entries.map { entry in
            let claims: [Target.Dependency] = entry.hasPrefix("Foreign") ? ["ForeignClaims"] : []
            return .executableTarget(name: entry, dependencies: modules + claims, swiftSettings: strict)
        },
    swiftLanguageModes: [.v6]
)
