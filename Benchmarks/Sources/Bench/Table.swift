import Glibc

/// Returns a number with this many decimals. Foundation is not linked here.
func text(_ value: Double, decimals: Int = 0) -> String {
    let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
    let scaled = Int((value * scale).rounded())
    guard decimals > 0 else { return "\(scaled)" }
    let fraction = "\(scaled % Int(scale))"
    return "\(scaled / Int(scale))." + String(repeating: "0", count: decimals - fraction.count) + fraction
}

func printTable(_ title: String, _ header: [String], _ rows: [[String]], notes: [String] = []) {
    let lines = [header] + rows
    let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    print("\n\(title)")
    for line in lines {
        let cells = line.indices.map { column in
            let padding = String(repeating: " ", count: widths[column] - line[column].count)
            return column == 0 ? line[column] + padding : padding + line[column]
        }
        print("  " + cells.joined(separator: "  "))
    }
    for note in notes { print("  " + note) }
    fflush(nil)
}

/// Returns "0.48 us, target <= 1: met".
func limit(_ value: Double, atMost limit: Double, unit: String) -> String {
    "\(text(value, decimals: 2)) \(unit), target <= \(text(limit)): \(value <= limit ? "met" : "MISSED")"
}

/// Returns "0.97 of at most 1.25", with a remark if the limit is exceeded.
func ratio(_ ours: Double, to peer: Double, atMost limit: Double) -> String {
    let ratio = ours / peer
    return "\(text(ratio, decimals: 2)) of \(text(peer, decimals: peer < 1000 ? 1 : 0)), target <= "
        + "\(text(limit, decimals: 2)): \(ratio <= limit ? "met" : "MISSED")"
}
