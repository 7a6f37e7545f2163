internal import PintleSystem

/// Bytes of private keys and passphrases.
package enum SecretBytes {
    /// Overwrites secret bytes in place, if no other variable shares the array's memory.
    ///
    /// This only shortens a key's time in memory. Pieces that were copied while reading and decoding stay until their
    /// memory is used again.
    package static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            // Calls that the compiler does not leave out, although the bytes are not read again.
            #if canImport(Darwin)
            memset_s(start, buffer.count, 0, buffer.count)
            #else
            explicit_bzero(start, buffer.count)
            #endif
        }
    }
}
