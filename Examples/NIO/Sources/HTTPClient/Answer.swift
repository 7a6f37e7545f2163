import Pintle
import PintleNIO

/// An HTTP response, and the reason why its server is trusted.
public struct Answer: Sendable {
    public var status: Int
    public var body: [UInt8]
    public var receipt: TrustReceipt?
}
