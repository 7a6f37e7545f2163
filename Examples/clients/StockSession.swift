// Requests an address with the URLSession of swift-corelibs-foundation, which cannot pin. Usage: StockSession URL
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

guard let address = CommandLine.arguments.last, let url = URL(string: address) else { throw URLError(.badURL) }
let configuration = URLSessionConfiguration.ephemeral
configuration.timeoutIntervalForRequest = 3
do {
    let (_, response) = try await URLSession(configuration: configuration).data(from: url)
    print((response as? HTTPURLResponse)?.statusCode ?? 0)
} catch {
    print(error.localizedDescription)
    exit(1)
}
