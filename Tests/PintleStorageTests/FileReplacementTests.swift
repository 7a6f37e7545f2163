import Glibc
import PintleStorage
import PintleTestKit
import Testing

@Suite("The replacement of a file")
struct FileReplacementTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path(of: "file")
    }

    private func replacement(
        _ permissions: FileReplacement.Permissions = .exactly(0o600)
    ) throws -> FileReplacement {
        try FileReplacement(of: path, as: path + ".new", permissions)
    }

    private func exists(_ name: String) -> Bool { access(folder.path(of: name), F_OK) == 0 }

    private func mode(_ name: String) -> mode_t {
        var status = stat()
        return lstat(folder.path(of: name), &status) == 0 ? status.st_mode : 0
    }

    @Test("The old content stays until the new one is committed")
    func commit() throws {
        try folder.write("old", to: "file")
        let replacement = try replacement()
        try replacement.write(Array("ne".utf8)[...])
        try replacement.write(Array("w".utf8)[...])
        try replacement.sync()
        #expect(try folder.read("file") == Array("old".utf8) && exists("file.new"))
        try replacement.commit()
        #expect(try folder.read("file") == Array("new".utf8) && !exists("file.new"))
    }

    @Test("A replacement without a commit leaves no file, and releasing one after the commit keeps the file")
    func release() throws {
        for commits in [false, true] {
            do {
                let replacement = try replacement()
                try replacement.write([1])
                if commits { try replacement.commit() }
            }
            #expect(exists("file") == commits && !exists("file.new"))
        }
    }

    @Test("A leftover file or link under the temporary name is replaced")
    func leftover() throws {
        try folder.write("kept", to: "other")
        for isLink in [false, true] {
            if isLink {
                #expect(symlink(folder.path(of: "other"), path + ".new") == 0)
            } else {
                try folder.write("left", to: "file.new")
            }
            let replacement = try replacement()
            try replacement.write([1])
            try replacement.commit()
            #expect(try folder.read("file") == [1] && folder.read("other") == Array("kept".utf8))
        }
    }

    @Test("A symbolic link is replaced, and its target stays unchanged")
    func link() throws {
        try folder.write("kept", to: "other")
        #expect(symlink(folder.path(of: "other"), path) == 0)
        let replacement = try replacement()
        try replacement.write([1])
        try replacement.commit()
        #expect(mode("file") & S_IFMT == S_IFREG)
        #expect(try folder.read("file") == [1] && folder.read("other") == Array("kept".utf8))
    }

    @Test("A replacement sets exact permissions, or subtracts the umask from them")
    func permissions() throws {
        // Most umasks clear one of these bits.
        try replacement(.exactly(0o666)).commit()
        #expect(mode("file") & 0o777 == 0o666)
        try replacement(.atMost(0o644)).commit()
        #expect(mode("file") & 0o777 & ~0o644 == 0)
    }

    @Test("Without a folder, the error says that it does not exist")
    func noFolder() {
        let error = #expect(throws: ReplacementError.self) {
            try FileReplacement(of: "/nowhere/file", as: "/nowhere/file.new", .exactly(0o600))
        }
        #expect(error?.number == ENOENT)
    }
}
