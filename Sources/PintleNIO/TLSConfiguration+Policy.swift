#if NIO
internal import NIOSSL

extension TLSConfiguration {
    /// Returns the configuration with which only a policy accepts servers.
    ///
    /// - Throws: the first setting that contradicts that.
    func judgedByPolicy() throws(PinnedTLSError) -> TLSConfiguration {
        if case .none = certificateVerification { throw .refusedSetting(.certificateVerification) }
        switch maximumTLSVersion {
        case .tlsv1, .tlsv11: throw .refusedSetting(.maximumTLSVersion)
        case .tlsv12 where minimumTLSVersion == .tlsv13: throw .refusedSetting(.maximumTLSVersion)
        case .tlsv12, .tlsv13, nil: break
        }
        if let algorithms = verifySignatureAlgorithms {
            let usesSHA1 = algorithms.contains(.rsaPkcs1Sha1) || algorithms.contains(.ecdsaSha1)
            guard !usesSHA1 else { throw .refusedSetting(.verifySignatureAlgorithms) }
        }
        switch trustRoots {
        case .default, .certificates([]), nil: break
        case .file, .certificates: throw .refusedSetting(.trustRoots)
        }
        guard additionalTrustRoots.isEmpty else { throw .refusedSetting(.additionalTrustRoots) }
        guard case .none = renegotiationSupport else { throw .refusedSetting(.renegotiationSupport) }
        guard pskClientProvider == nil else { throw .refusedSetting(.pskClientProvider) }

        var configuration = self
        // The default is TLS 1.0.
        if minimumTLSVersion != .tlsv13 { configuration.minimumTLSVersion = .tlsv12 }
        // BoringSSL's own list ends in RSA with SHA-1, for TLS 1.2.
        if verifySignatureAlgorithms == nil {
            configuration.verifySignatureAlgorithms = [
                .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384, .rsaPssRsaeSha384,
                .rsaPkcs1Sha384, .rsaPssRsaeSha512, .rsaPkcs1Sha512,
            ]
        }
        // `.fullVerification` would compare the certificate with the socket's address if there is no host name. Behind
        // a proxy that is the proxy's address. The policy has compared names and addresses already.
        configuration.certificateVerification = .noHostnameVerification
        // NIOSSL would read the system's roots into each context, and not use them. Without any roots BoringSSL accepts
        // no server by itself, should the callback ever be missing.
        configuration.trustRoots = .certificates([])
        // Also removes a callback that was set by the deprecated name.
        configuration.pskClientProvider = nil
        return configuration
    }
}
#endif
