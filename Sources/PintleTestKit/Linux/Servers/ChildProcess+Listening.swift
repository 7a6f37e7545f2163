internal import Glibc

extension ChildProcess {
    /// Waits until something accepts connections on 127.0.0.1 at `port`; false where the program
    /// ended or the time was up first.
    public func waitUntilListening(on port: UInt16, timeout: Double = 10) -> Bool {
        let deadline = Deadline(seconds: timeout)
        while status == nil && !deadline.isOver {
            if (try? SocketAddress.loopback(port: port).connected()) != nil { return true }
            usleep(10_000)
        }
        return false
    }
}
