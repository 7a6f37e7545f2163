import COpenSSL
import Glibc
import Synchronization

/// Counts OpenSSL's operations with RSA public keys on the calling thread: one for each verified signature.
///
/// OpenSSL itself verifies most signatures of a path, so a count in Pintle's code would miss them. This counter
/// replaces a function in the method table of OpenSSL's RSA implementation. It does not change results, and counts each
/// thread separately.
enum SignatureWork {
    struct Tally: CustomStringConvertible {
        var signatures = 0
        /// The sum over all operations of the squared bits of the modulus times the bits of the exponent.
        var units = 0
        /// The same value for the most expensive operation.
        var most = 0
        var description: String { "\(signatures) signatures, \(units) units, at most \(most) each" }
    }

    private typealias Operation =
        @convention(c) (
            CInt, UnsafePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, OpaquePointer?, CInt
        ) -> CInt

    private static let tallies = Mutex<[pthread_t: Tally]>([:])

    /// OpenSSL's original function, which is constant and thread-safe.
    private static let original: Operation? = {
        let method = RSA_PKCS1_OpenSSL()
        let original = RSA_meth_get_pub_dec(method)
        RSA_meth_set_pub_dec(method) { count, from, to, key, padding in
            SignatureWork.note(key)
            return SignatureWork.original?(count, from, to, key, padding) ?? -1
        }
        return original
    }()

    /// Returns the work of `body` on this thread.
    static func measure(_ body: () throws -> Void) throws -> Tally {
        guard original != nil else { throw Unavailable() }
        let thread = pthread_self()
        tallies.withLock { $0[thread] = Tally() }
        defer { tallies.withLock { $0[thread] = nil } }
        try body()
        return tallies.withLock { $0[thread] } ?? Tally()
    }

    private static func note(_ key: OpaquePointer?) {
        var (modulus, exponent): (OpaquePointer?, OpaquePointer?)
        RSA_get0_key(key, &modulus, &exponent, nil)
        let bits = Int(BN_num_bits(modulus))
        let units = bits * bits * Int(BN_num_bits(exponent))
        let thread = pthread_self()
        tallies.withLock { tallies in
            tallies[thread]?.signatures += 1
            tallies[thread]?.units += units
            if let most = tallies[thread]?.most { tallies[thread]?.most = max(most, units) }
        }
    }

    struct Unavailable: Error {}
}
