// Prints the status and the length of each address's answer.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let session = URLSession(configuration: .default)
for address in CommandLine.arguments.dropFirst() {
    guard let url = URL(string: address) else { continue }
    do {
        let (data, response) = try await session.data(from: url)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        print(address, status, data.count)
    } catch {
        print(address, error.localizedDescription)
        exit(1)
    }
}
