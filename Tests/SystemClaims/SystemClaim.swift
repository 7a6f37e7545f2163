/// Something that `PintleSystem` promises for each C library. Linux's tests examine it, and a program with the stand-in
/// for macOS's C library, for which no tests can be built.
package struct SystemClaim: Sendable, CustomStringConvertible {
    package let description: String
    /// Returns `true` if the claim is true here.
    package let holds: @Sendable () throws -> Bool

    init(_ description: String, _ holds: @escaping @Sendable () throws -> Bool) {
        (self.description, self.holds) = (description, holds)
    }

    package static let all = sockets + hangUps + programs
}

/// A system call that a claim needs failed.
struct SystemClaimError: Error {}
