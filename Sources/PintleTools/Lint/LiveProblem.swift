/// What `lint` finds at a live server. Ids are stable, and the article "Problems of a policy" explains each.
enum LiveProblem: String, CaseIterable {
    case unreachable = "live-unreachable"
    case noRule = "live-no-rule"
    case invalidPath = "live-invalid-path"
    case missingIntermediate = "live-missing-intermediate"
    case mismatch = "live-mismatch"
    case onBackup = "live-on-backup"
    case backupInUse = "live-backup-in-use"
    case unmatchedPin = "live-unmatched-pin"
    case sharedAuthority = "live-shared-authority"
    case certificateEnds = "live-certificate-ends"
}
