// swift-tools-version: 6.2
import PackageDescription

// No SDK of Apple's has compiled these yet: what it warns of must not keep anybody's app from building.
#if os(Linux)
let warnings: [SwiftSetting] = [.treatAllWarnings(as: .error)]
#else
let warnings: [SwiftSetting] = []
#endif

let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + warnings

// Apple's side: on Apple's systems, and on Linux with modules of Tests/StandIns in the place of Apple's, where `make
// test-apple` sets the variable. Sources ask `#if PINTLE_APPLE` and never `canImport`, whose answer would depend on what
// was built before.
#if os(Linux)
let usesStandIns = Context.environment["PINTLE_APPLE_STANDINS"] == "1"
let apple: [SwiftSetting] = usesStandIns ? [.define("PINTLE_APPLE")] : []
#else
let usesStandIns = false
let apple: [SwiftSetting] = [.define("PINTLE_APPLE")]
#endif

// Apple asks for a manifest of each module that uses certain API. The article on Apple's systems says which. Elsewhere it is
// left out, because a resource makes a bundle that a program has to be shipped with.
#if os(Linux)
let manifest: (resources: [Resource], exclude: [String]) =
    usesStandIns ? ([.copy("PrivacyInfo.xcprivacy")], []) : ([], ["PrivacyInfo.xcprivacy"])
#else
let manifest: (resources: [Resource], exclude: [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#endif

// For the accessor that stands in for `Array.span`.
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

var products: [Product] = [
    .library(name: "Pintle", targets: ["Pintle"]),
    .library(name: "PintleFiles", targets: ["PintleFiles"]),
    .library(name: "PintleStorage", targets: ["PintleStorage"]),
    .library(name: "PintleUpdates", targets: ["PintleUpdates"]),
    .library(name: "PintleReports", targets: ["PintleReports"]),
]

var targets: [Target] = [
    .target(name: "Pintle", dependencies: ["PintleCrypto"], swiftSettings: strict + lifetimes),
    .target(
        name: "PintleFiles", dependencies: ["Pintle"], exclude: manifest.exclude, resources: manifest.resources,
        swiftSettings: strict),
    .target(
        name: "PintleStorage", dependencies: ["Pintle"], exclude: manifest.exclude, resources: manifest.resources,
        swiftSettings: strict),
    .target(
        name: "PintleUpdates", dependencies: ["Pintle", "PintleCrypto", "PintleStorage"], swiftSettings: strict),
    .target(
        name: "PintleReports",
        dependencies: ["Pintle", "PintleCrypto", "PintleFiles", "PintleStorage"] + (usesStandIns ? ["os"] : []),
        swiftSettings: strict + apple),
]

// What both sides have.
let portable = (products: products, targets: targets)

// Targets that stand on OpenSSL exist on Linux only: on Apple's systems the platform validates the
// path and hashes, and nothing here may ask for a library that is not there.
#if os(Linux)
products += [
    .library(name: "PintleOpenSSL", targets: ["PintleOpenSSL"]),
    .library(name: "PintleURLSession", targets: ["PintleURLSession"]),
    .library(name: "PintleTestKit", targets: ["PintleTestKit"]),
    // Not for users: the nested packages that fuzz and measure the tool can only reach products.
    .library(name: "_PintleTools", targets: ["PintleTools"]),
    .executable(name: "pintle", targets: ["PintleCLI"]),
]
targets += [
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CPublicSuffix", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .target(name: "PintleCrypto", dependencies: ["COpenSSL"], swiftSettings: strict),
    .target(
        name: "PintleOpenSSL",
        dependencies: ["Pintle", "PintleFiles", "COpenSSL", "CPublicSuffix"],
        swiftSettings: strict,
        // Here, not in COpenSSL: the core needs libcrypto alone.
        linkerSettings: [.linkedLibrary("ssl")]
    ),
    .target(
        name: "PintleURLSession",
        dependencies: [
            "Pintle", "PintleFiles", "PintleOpenSSL", "PintleReports", "PintleStorage", "PintleUpdates", "COpenSSL",
            "CCurl",
        ],
        exclude: ["Apple"],
        swiftSettings: strict
    ),
    testKit,
    .target(
        name: "PintleTools",
        dependencies: [
            "Pintle", "PintleCrypto", "PintleFiles", "PintleOpenSSL", "PintleReports", "PintleStorage", "PintleTestKit",
            "PintleUpdates", "COpenSSL", "CExpat",
        ],
        swiftSettings: strict
    ),
    .executableTarget(name: "PintleCLI", dependencies: ["PintleTools"], swiftSettings: strict),
    // The tools know the table of ids that every problem with a policy must be in.
    .testTarget(name: "PintleTests", dependencies: ["Pintle", "PintleCrypto", "PintleTools"], swiftSettings: strict),
    // Ends itself in the middle of a change, for the tests of the storage.
    .executableTarget(
        name: "StorageVictim", dependencies: ["Pintle", "PintleStorage"], path: "Tests/StorageVictim",
        swiftSettings: strict),
    .testTarget(
        name: "PintleStorageTests",
        dependencies: ["Pintle", "PintleStorage", "PintleTestKit", "StorageVictim"],
        swiftSettings: strict
    ),
    // Real servers, a real interceptor and probes, for more than one of the tests below.
    .target(
        name: "PintleTestPeers", dependencies: ["COpenSSL", "PintleTestKit"], path: "Tests/PintleTestPeers",
        swiftSettings: strict),
    .testTarget(
        name: "PintleOpenSSLTests",
        dependencies: ["COpenSSL", "Pintle", "PintleFiles", "PintleOpenSSL", "PintleTestKit", "PintleTestPeers"],
        exclude: ["limbo-exceptions.txt"],
        swiftSettings: strict
    ),
    // The program that both adapters are attacked with.
    .target(
        name: "AttackDemo", dependencies: ["PintleURLSession", "PintleTestKit"], path: "Tests/AttackDemo",
        swiftSettings: strict),
    .testTarget(
        name: "PintleURLSessionTests",
        dependencies: [
            "AttackDemo", "COpenSSL", "Pintle", "PintleCrypto", "PintleURLSession", "PintleFiles", "PintleOpenSSL",
            "PintleTestKit", "PintleTestPeers", "PintleReports", "PintleUpdates",
        ],
        swiftSettings: strict
    ),
    resourceTests,
    .testTarget(name: "PintleTestKitTests", dependencies: ["PintleTestKit", "COpenSSL"], swiftSettings: strict),
    // The tests of an app, as the documentation shows them.
    .testTarget(
        name: "AppTests", dependencies: ["Pintle", "PintleOpenSSL", "PintleTestKit"], swiftSettings: warnings),
    // Ends itself in the middle of an adoption, for the tests of the updates' store.
    .executableTarget(
        name: "UpdateVictim", dependencies: ["Pintle", "PintleStorage", "PintleUpdates"], path: "Tests/UpdateVictim",
        swiftSettings: strict),
    .testTarget(
        name: "PintleUpdatesTests",
        dependencies: [
            "Pintle", "PintleCrypto", "PintleStorage", "PintleTestKit", "PintleTestPeers", "PintleUpdates",
            "UpdateVictim",
        ],
        swiftSettings: strict
    ),
    // Ends itself in the middle of keeping or sending reports, for the tests of their spool.
    .executableTarget(
        name: "ReportVictim", dependencies: ["Pintle", "PintleReports", "PintleStorage"], path: "Tests/ReportVictim",
        swiftSettings: strict),
    .testTarget(
        name: "PintleReportsTests",
        dependencies: [
            "Pintle", "PintleCrypto", "PintleOpenSSL", "PintleReports", "PintleStorage", "PintleTestKit",
            "PintleTestPeers", "ReportVictim",
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "PintleToolsTests",
        dependencies: [
            "Pintle", "PintleReports", "PintleTools", "PintleUpdates", "PintleTestKit", "PintleTestPeers",
        ],
        swiftSettings: strict
    ),
]
#else
products += appleProducts
targets += appleTargets()
targets += [
    .target(name: "PintleCrypto", swiftSettings: strict + apple),
    .testTarget(name: "PintleTests", dependencies: ["Pintle", "PintleCrypto"], swiftSettings: strict),
    appleTestKit(named: "PintleTestKit"),
    .testTarget(name: "AppTests", dependencies: ["Pintle", "PintleApple", "PintleTestKit"], swiftSettings: warnings),
]
#endif

#if os(Linux)
if usesStandIns {
    products = portable.products + appleProducts
    targets =
        portable.targets
        + appleTargets(standIns: ["Network", "Security", "WebKit", "os"], warnings)
    targets += [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "PintleCrypto", dependencies: ["CryptoKit"], swiftSettings: strict + apple),
        // The servers that the tests talk to, and keys of every kind.
        testKit,
        // What Apple's systems have under the name PintleTestKit: the same sources, by a link, because SwiftPM gives a file
        // to one target only.
        appleTestKit(
            named: "TestKitOnApple", path: "Tests/StandIns/TestKitOnApple", standIns: ["CryptoKit", "Security"]),
        .target(
            name: "CryptoKit", dependencies: ["COpenSSL"], path: "Tests/StandIns/CryptoKit", swiftSettings: strict),
        .target(
            name: "Network", dependencies: ["Security"], path: "Tests/StandIns/Network", swiftSettings: strict),
        .target(name: "WebKit", dependencies: ["Security"], path: "Tests/StandIns/WebKit", swiftSettings: strict),
        .target(name: "os", path: "Tests/StandIns/os", swiftSettings: strict),
        .target(
            name: "Security", dependencies: ["COpenSSL", "CCurl"], path: "Tests/StandIns/Security",
            swiftSettings: strict, linkerSettings: [.linkedLibrary("ssl")]),
        .target(
            name: "Alamofire", dependencies: ["Security"], path: "Tests/StandIns/Alamofire", swiftSettings: strict),
        .target(name: "Combine", path: "Tests/StandIns/Combine", swiftSettings: warnings),
        .target(
            name: "SwiftUI", dependencies: ["Combine"], path: "Tests/StandIns/SwiftUI", swiftSettings: warnings),
        .target(
            name: "ClientModel", dependencies: ["PintleURLSession", "Security"], path: "Examples/Sources/ClientModel",
            swiftSettings: warnings + [.enableUpcomingFeature("MemberImportVisibility")]),
        .executableTarget(
            name: "AppViews", dependencies: ["ClientModel", "Combine", "PintleURLSession", "SwiftUI", "WebKit"],
            path: "Examples/App", exclude: ["README.md"],
            // As Xcode 26 sets up a new project.
            swiftSettings: warnings + [
                .defaultIsolation(MainActor.self), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InferIsolatedConformances"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]),
        .target(
            name: "AttackDemo", dependencies: ["PintleURLSession", "PintleTestKit", "Security"],
            path: "Tests/AttackDemo", swiftSettings: strict + apple),
        .testTarget(
            name: "PintleAppleTests",
            dependencies: [
                "Alamofire", "AttackDemo", "Pintle", "PintleApple", "PintleCrypto", "PintleStorage",
                "PintleTestKit", "PintleURLSession", "PintleUpdates", "TestKitOnApple", "Network", "Security", "WebKit",
                "os",
            ],
            // Among the tests only: an app's lines for Alamofire need a module of that name.
            swiftSettings: strict + [.define("PINTLE_ALAMOFIRE")]),
        // There `import PintleTestKit` means what it means on Apple's systems.
        .testTarget(
            name: "AppTests", dependencies: ["Pintle", "PintleApple", "TestKitOnApple"],
            swiftSettings: warnings + [.unsafeFlags(["-module-alias", "PintleTestKit=TestKitOnApple"])]),
        resourceTests,
    ]
}
#endif

/// The test kit for Linux: certificates, servers, proxies, processes and attacks.
var testKit: Target {
    .target(
        name: "PintleTestKit", dependencies: ["PintleCrypto", "COpenSSL"], exclude: ["Apple"], swiftSettings: strict,
        linkerSettings: [.linkedLibrary("ssl")])
}

/// The test kit for Apple's systems: certificates.
///
/// - Parameter modules: what stands in for Apple's.
func appleTestKit(named name: String, path: String? = nil, standIns modules: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: ["PintleCrypto"] + modules, path: path, exclude: ["Linux"],
        swiftSettings: strict + apple)
}

/// What both sessions read in the same way.
var resourceTests: Target {
    .testTarget(
        name: "PintleResourceTests", dependencies: ["PintleURLSession", "PintleTestKit"], swiftSettings: strict + apple)
}

/// The session for Apple's systems.
///
/// - Parameter modules: what stands in for Apple's.
func appleTargets(standIns modules: [Target.Dependency] = [], _ settings: [SwiftSetting] = []) -> [Target] {
    let settings =
        settings + [
            .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        ] + apple
    return [
        .target(
            name: "PintleApple", dependencies: ["Pintle", "PintleStorage"] + modules, swiftSettings: settings),
        .target(
            name: "PintleURLSession",
            dependencies: [
                "Pintle", "PintleApple", "PintleFiles", "PintleReports", "PintleStorage", "PintleUpdates",
            ] + modules,
            exclude: ["Linux", "TrustReceipt.swift", "TrustReceipt+Require.swift"],
            swiftSettings: settings),
    ]
}

var appleProducts: [Product] {
    [
        .library(name: "PintleApple", targets: ["PintleApple"]),
        .library(name: "PintleURLSession", targets: ["PintleURLSession"]),
        .library(name: "PintleTestKit", targets: ["PintleTestKit"]),
    ]
}

let package = Package(
    name: "pintle",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: products,
    targets: targets,
    swiftLanguageModes: [.v6]
)
