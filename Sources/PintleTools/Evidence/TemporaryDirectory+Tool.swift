internal import PintleConsole
internal import PintleTestKit

extension TemporaryDirectory {
    /// Makes a folder that is removed at the end, below `parent` or where the system has such folders.
    static func make(under parent: String? = nil) throws(ToolError) -> TemporaryDirectory {
        do {
            return try TemporaryDirectory(under: parent)
        } catch {
            throw .unusable("unwritable-file", "\(error)")
        }
    }
}
