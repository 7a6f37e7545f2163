let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else { stop("usage: Bench MATERIAL pins|paths|hosts|processes|updates...") }
let material = Material(arguments[0])
do {
    switch arguments[1] {
    case "pins": try PinSection.run(material)
    case "paths": try PathSection.run(material)
    case "processes": try ProcessSection.run(material, arguments.dropFirst(2))
    case "updates": try UpdateSection.run()
    case "hosts": try HostSection.run()
    case "allocations":
        for (name, peer) in try countedCases(material).sorted(by: { $0.key < $1.key }) {
            print(name, text(allocations(of: try peer()), decimals: 2))
        }
    case "count":
        guard arguments.count == 4, let count = Int(arguments[3]) else { stop("usage: Bench MATERIAL count CASE N") }
        guard let peer = try countedCases(material)[arguments[2]] else { stop("no case \(arguments[2])") }
        sink &+= try peer().run(count)
    default: stop("no section \(arguments[1])")
    }
} catch {
    stop("\(error)")
}
