public import Security

/// Configurations with Alamofire's own header fields, which are left out here.
public enum AlamofireConfigurations {
    public static var `default`: URLSessionConfiguration { .default }
}

extension URLSessionConfiguration {
    public static var af: AlamofireConfigurations.Type { AlamofireConfigurations.self }
}
