internal import Pintle
internal import PintleSystem
internal import PintleText

/// The reference of the tool, written from the values of its commands: pages for DocC and for `man`.
enum CommandReference {
    enum Format: String, CaseIterable {
        case docc, man
    }

    /// - Parameter instant: the date of manual pages.
    /// - Returns: for each page the name of its file and the content.
    static func files(
        _ format: Format, of commands: [Command], at instant: Date = Date()
    ) -> [(name: String, content: String)] {
        ReferencePage.all(commands).map { page in
            switch format {
            case .docc:
                let page = DocCPage(page: page)
                return (name: page.name + ".md", content: page.text)
            case .man:
                let page = ManPage(page: page, date: ValidityText.day(instant))
                return (name: page.name + ".1", content: page.text)
            }
        }
    }

    /// Writes every page to a folder, which is made if it does not exist. Other files in it stay.
    static func write(
        _ format: Format, of commands: [Command], to folder: String, at instant: Date
    ) throws(ToolError) {
        try OutputFolder.create(folder)
        for file in files(format, of: commands, at: instant) {
            try OutputFile.replace("\(folder)/\(file.name)", Array(file.content.utf8))
        }
    }
}
