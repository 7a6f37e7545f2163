internal import Pintle

/// The settings of one audit.
struct AuditRequest {
    let policyFile: InputFile?
    let policy: PinningPolicy?
    let targets: AuditTargets
    let parallel: Int
    let timeLimit: Duration?
    /// The file that results are kept in.
    let results: String?
    let resumes: Bool
    let html: String?
    let isStrict: Bool
}
