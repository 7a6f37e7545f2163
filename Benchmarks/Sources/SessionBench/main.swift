// Section C: HTTPS on loopback. The servers are this program and nginx, on one processor; the clients are a
// process of their own on another, so that what it uses, of time and of memory, is theirs.
import Foundation

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "client" {
    try await Clients(files: arguments[2], what: arguments[3]).run()
} else {
    // At its return the servers have ended, and their folder is gone.
    exit(try Servers.run(arguments.count > 1 ? arguments[1] : "times"))
}

func stop(_ message: String) -> Never {
    print("bench: \(message)")
    exit(2)
}
