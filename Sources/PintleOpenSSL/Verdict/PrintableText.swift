/// Returns foreign bytes as a short line of printable ASCII for messages. Otherwise a peer could move the terminal's
/// cursor or forge lines.
package func printable(_ bytes: some Collection<UInt8>, limit: Int = 80) -> String {
    var text = ""
    for byte in bytes.prefix(limit) {
        text.unicodeScalars.append((0x20...0x7E).contains(byte) ? Unicode.Scalar(byte) : "?")
    }
    return bytes.count > limit ? text + "..." : text
}
