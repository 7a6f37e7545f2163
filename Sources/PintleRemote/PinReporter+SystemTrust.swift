public import PintleReports
public import PintleStorage

extension PinReporter {
    /// Makes a reporter that keeps reports in a folder and sends them over connections that are checked only by the
    /// system's trust.
    ///
    /// - Parameters:
    ///   - folder: A folder that only this reporter uses, with mode 0700. It is created if it does not exist; its
    ///     parent folder has to exist.
    ///   - options: The settings of the reports.
    /// - Throws: The reason why the folder cannot be used.
    public convenience init(folder: String, options: ReportOptions = ReportOptions()) throws(StorageError) {
        try self.init(folder: folder, options: options, transport: SystemTrustTransport())
    }
}
