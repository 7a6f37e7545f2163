internal import Pintle
internal import PintlePolicyFile
internal import PintleStorage
internal import PintleText

/// The file `pintle-check.json` beside a policy: `{"strict": true}`.
package struct CheckConfiguration {
    /// A Boolean value that indicates whether every warning ends the build.
    package let isStrict: Bool

    /// The reason why the file cannot be used, as a line for the build.
    package struct Problem: Error {
        package let line: String
    }

    package init(isStrict: Bool = false) {
        self.isStrict = isStrict
    }

    package init(contentsOfFile path: String) throws(Problem) {
        func problem(_ message: String, _ line: Int? = nil, _ column: Int? = nil) -> Problem {
            let place = line.map { ":\($0):\(column ?? 1)" } ?? ""
            return Problem(line: "\(SafeText.escape(path))\(place): error: \(SafeText.escape(message))")
        }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try RegularFile.content(path, limit: 1 << 16)
        } catch {
            throw problem("\(error)")
        }
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes)
        } catch {
            throw problem(error.message, error.line, error.column)
        }
        let root = document.root
        let form = "write {\"strict\": true} or {\"strict\": false}"
        guard let members = root.members else { throw problem("the file is not an object; \(form)", 1, 1) }
        var isStrict = false
        for member in members {
            guard member.key.equals("strict"), let value = member.value.boolean else {
                let place = member.key.place
                throw problem("only \"strict\" is known here, true or false; \(form)", place.line, place.column)
            }
            isStrict = value
        }
        self.isStrict = isStrict
    }
}
