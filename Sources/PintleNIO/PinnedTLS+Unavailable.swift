#if !NIO
/// TLS for SwiftNIO, judged by a policy. This build of the package lacks it, because its trait `NIO` is off.
@available(
    *, unavailable,
    message: "PintleNIO needs the trait NIO: add traits: [\"NIO\"] to the dependency on pintle in Package.swift"
)
public struct PinnedTLS: Sendable {}
#endif
