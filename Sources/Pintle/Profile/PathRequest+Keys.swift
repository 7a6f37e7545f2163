extension PathRequest {
    /// Returns the failure of a path that has a key below its anchor that is not one (``PublicKeyFlaw``). Returns `nil`
    /// without such a key, and if the request has no pins.
    ///
    /// For platforms whose own validation builds the path. Behind a leaf with such a key the server proves nothing.
    package func keyFailure(of path: ValidatedPath) -> PathFailure? {
        guard let pins, !pins.isEmpty else { return nil }
        let judged = path.certificates.prefix(max(1, path.certificates.count - 1))
        return PathFailure(
            judged.enumerated().compactMap { depth, certificate in
                PublicKeyFlaw.text(ofCertificate: certificate).map { .init(.weakKey, depth: depth, text: $0) }
            })
    }
}
