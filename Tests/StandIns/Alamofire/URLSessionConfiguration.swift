import Foundation

/// Alamofire's configurations. Their own header fields are left out here.
public enum AlamofireConfigurations {
    public static var `default`: URLSessionConfiguration { .default }
}

extension URLSessionConfiguration {
    public static var af: AlamofireConfigurations.Type { AlamofireConfigurations.self }
}
