import PintleCrypto
import Testing

@testable import PintleUpdates

/// The store as sections 5 and 7 of `Specification/update.md` describe it, over a few updates. It shares no code with
/// the store.
struct StoreModel: Hashable, Sendable {
    /// An update that the app's publisher has signed; `foreign` is signed by someone else.
    enum Update: String, CaseIterable {
        /// The rules of `one` are those of the bundled policy. `otherTwo` has the version of `two` and other rules.
        /// `refused` has the version of `three`, and a host that the bundled policy does not permit.
        case one, two, otherTwo, three, refused, foreign

        var version: Int {
            switch self {
            case .one: 1
            case .two, .otherTwo, .foreign: 2
            case .three, .refused: 3
            }
        }
    }

    /// The content of `update.json`.
    enum UpdateFile: Hashable, CaseIterable {
        case absent, damaged, unreadable
        case update(Update)

        static var allCases: [UpdateFile] { [.absent, .damaged, .unreadable] + Update.allCases.map { .update($0) } }
    }

    /// The content of a copy of the floor.
    enum Copy: Hashable {
        case absent, damaged
        /// Only in the folder: others may write into the file, so it is not read.
        case unreadable
        /// Only in the folder: a folder has the file's name, so the floor can be neither read nor written.
        case obstructed
        case floor(Update)
        /// The floor of a release with other keys.
        case foreign

        static let inFolder: [Copy] = [
            .absent, .damaged, .unreadable, .obstructed, .floor(.one), .floor(.two), .floor(.otherTwo), .floor(.three),
            .foreign,
        ]
        static let outside: [Copy] = [
            .absent, .damaged, .floor(.one), .floor(.two), .floor(.otherTwo), .floor(.three),
        ]

        var floor: Update? { if case .floor(let update) = self { update } else { nil } }
    }

    var update: UpdateFile
    var file: Copy
    /// The copy outside of the folder; `nil` for a store without one.
    var outside: Copy?
    /// The copy outside cannot be read at this moment.
    var isLocked = false
    /// The `updateVersion` of the bundled policy.
    var bundled: Int

    /// The outcome of opening a store.
    struct Opened: Hashable {
        /// The update in force; `nil` for the bundled policy.
        var inForce: Update?
        var floor: Update?
        var isLost = false
        /// The copy outside cannot be read, so no update is taken.
        var isUnchecked = false
    }

    // MARK: Section 5

    /// Returns the code for which an update is refused.
    func refusal(of update: Update, floor: Update?) -> String? {
        if update == .foreign { return "invalid-signature" }
        if update.version < max(1, floor?.version ?? 0, bundled) { return "rollback" }  // U20, U21
        if let floor, update.version == floor.version {
            if update != floor { return "replaced-version" }  // U22
        } else if update.version == bundled, update != .one {
            return "replaced-version"  // U23
        }
        return update == .refused ? "out-of-scope" : nil
    }

    // MARK: Section 7

    /// Opens a store. The files afterwards are those of `self`.
    mutating func open() -> Opened {
        var opened = Opened(isUnchecked: outside != nil && isLocked)
        let outsideFloor = isLocked ? nil : outside?.floor
        // U43: the copy with the highest version counts. Of two with the same version, the one outside does.
        for copy in [outsideFloor, file.floor].compactMap({ $0 }) where copy.version > opened.floor?.version ?? 0 {
            opened.floor = copy
        }
        var stored: Update?
        if case .update(let update) = update { stored = update }
        // U44
        if let stored, refusal(of: stored, floor: opened.floor) == nil {
            (opened.inForce, opened.floor) = (stored, stored)
        } else if let stored, stored != .foreign, file != .foreign || outsideFloor != nil,
            stored.version > max(opened.floor?.version ?? 0, bundled)
        {
            opened.floor = stored
        }
        opened.isLost = opened.inForce == nil && isLoss(floor: opened.floor, stored: stored)
        if let floor = opened.floor, file != .obstructed { file = .floor(floor) }
        // Only a verified update raises the copy outside, whatever happens to the file.
        if let update = opened.inForce, outside != nil, !opened.isUnchecked { outside = .floor(update) }
        return opened
    }

    /// U44: the loss is reported unless the bundled policy is as new, or the floor is one of other keys.
    private func isLoss(floor: Update?, stored: Update?) -> Bool {
        if let floor { return floor.version > bundled }
        if file == .foreign { return false }
        if let stored, stored != .foreign { return stored.version > bundled }
        return update != .absent || [.damaged, .unreadable, .obstructed].contains(file)
            || outside == .damaged && !isLocked
    }

    /// Adopts an update in a store that was just opened. Returns the code for which it is refused.
    mutating func adopt(_ update: Update, _ opened: inout Opened) -> String? {
        if opened.isUnchecked { return "floor-unreadable" }  // U46
        if let code = refusal(of: update, floor: opened.floor) { return code }
        if opened.inForce == update, self.update == .update(update) { return nil }
        // U42
        self.update = .update(update)
        if outside != nil { outside = .floor(update) }
        if file == .obstructed { return "not-stored" }
        file = .floor(update)
        opened = Opened(inForce: update, floor: update)
        return nil
    }

    static func all(bundled: [Int] = [0, 1, 2, 3]) -> [StoreModel] {
        let outsides: [(Copy?, Bool)] =
            [(nil, false), (.absent, true), (.floor(.three), true)] + Copy.outside.map { ($0, false) }
        return UpdateFile.allCases.flatMap { update in
            Copy.inFolder.flatMap { file in
                outsides.flatMap { outside, isLocked in
                    bundled.map {
                        StoreModel(update: update, file: file, outside: outside, isLocked: isLocked, bundled: $0)
                    }
                }
            }
        }
    }
}

/// Two processes that share the files, and whatever happens to the files.
struct StoreWorld: Hashable, Sendable {
    typealias Update = StoreModel.Update

    /// The knowledge of a process.
    struct Process: Hashable {
        var inForce: Update?
        var floor: Update?
        var isLost = false
        /// No read of the copy outside has succeeded in this process.
        var isUnchecked = false
        /// The last read of the copy outside has failed.
        var isOutdated = false
    }

    enum Operation: Hashable {
        /// A process starts, after its predecessor has ended.
        case open(Int)
        case reload(Int)
        case adopt(Int, Update)
        /// A process ends after it has written an update and before it writes the floor.
        case crash(Int, Update)
        /// A process adopts an update, or starts if there is none, and stalls when it has written the floor's file.
        /// The lock is removed, and the other process adopts `three`. Then the first one goes on.
        case stall(Int, Update?)
        case loseUpdate, loseFloor
        /// An attacker puts the files of version 1 back.
        case restore
        case lock, unlock
    }

    var files: StoreModel
    var processes: [Process?] = [nil, nil]

    static let operations: [Operation] =
        [.loseUpdate, .loseFloor, .restore, .lock, .unlock]
        + [0, 1].flatMap { number in
            [.open(number), .reload(number), .stall(number, nil), .stall(number, .two)]
                + [Update.one, .two, .otherTwo, .three].flatMap { [.adopt(number, $0), .crash(number, $0)] }
        }

    /// Performs an operation.
    ///
    /// - Returns: the refusal, if an update is refused; `nil` instead of the pair for what cannot happen or is nothing.
    mutating func perform(_ operation: Operation) -> (refusal: String?, isPossible: Bool) {
        let before = self
        switch operation {
        case .open(let number):
            let opened = files.open()
            processes[number] = Process(
                inForce: opened.inForce, floor: opened.floor, isLost: opened.isLost, isUnchecked: opened.isUnchecked)
        case .reload(let number):
            guard var process = processes[number] else { return (nil, false) }
            _ = look(&process)
            processes[number] = process
        case .adopt(let number, let update), .crash(let number, let update):
            guard var process = processes[number] else { return (nil, false) }
            let stored = look(&process)
            var crashes = false
            if case .crash = operation { crashes = true }
            let refusal = files.isLocked ? "floor-unreadable" : files.refusal(of: update, floor: process.floor)
            let isThere = process.inForce == update && stored == update
            guard !crashes || refusal == nil && !isThere else { return (nil, false) }
            if refusal == nil, !isThere {
                files.update = .update(update)
                if !crashes {
                    files.file = .floor(update)
                    if files.outside != nil { files.outside = .floor(update) }
                    (process.inForce, process.floor, process.isLost) = (update, update, false)
                }
            }
            processes[number] = crashes ? nil : process
            return (refusal, true)
        case .stall(let number, let update):
            guard files.outside != nil, !files.isLocked, processes[1 - number] != nil else { return (nil, false) }
            let refusal: String?
            if let update {
                refusal = stall(number, adopting: update)
                guard refusal != nil else { return (nil, false) }
            } else {
                var opened = files
                let found = opened.open()
                guard opened.file != files.file, opened.outside != files.outside else { return (nil, false) }
                files.file = opened.file
                processes[number] = Process(inForce: found.inForce, floor: found.floor)
                refusal = nil
            }
            _ = perform(.adopt(1 - number, .three))
            return (refusal, true)
        case .loseUpdate: files.update = .absent
        case .loseFloor: files.file = .absent
        case .restore: (files.update, files.file) = (.update(.one), .floor(.one))
        case .lock, .unlock:
            guard files.outside != nil else { return (nil, false) }
            files.isLocked = operation == .lock
        }
        return (nil, self != before)
    }

    /// Adopts an update up to the floor's file.
    ///
    /// - Returns: the refusal, because the floor outside is not written; `nil` for what cannot happen or writes a floor
    ///   before.
    private mutating func stall(_ number: Int, adopting update: Update) -> String? {
        var opened = files
        _ = opened.open()
        guard opened == files, var process = processes[number] else { return nil }
        let stored = look(&process)
        guard files.refusal(of: update, floor: process.floor) == nil, process.inForce != update || stored != update
        else { return nil }
        (files.update, files.file, processes[number]) = (.update(update), .floor(update), process)
        return "not-stored"
    }

    /// Reads the files in a process that runs. Returns the stored update.
    private mutating func look(_ process: inout Process) -> Update? {
        let found = files.open()
        let wasUnchecked = process.isUnchecked
        // U43: the floor does not fall.
        if found.floor?.version ?? 0 > process.floor?.version ?? 0 { process.floor = found.floor }
        process.isOutdated = found.isUnchecked && !wasUnchecked
        guard !found.isUnchecked else { return found.inForce }
        process.isUnchecked = false
        if wasUnchecked, let floor = found.floor, let inForce = process.inForce, floor.version >= inForce.version,
            floor != inForce
        {
            process.inForce = nil
            if floor.version >= process.floor?.version ?? 0 { process.floor = floor }
        }
        if let update = found.inForce, update.version > process.inForce?.version ?? 0,
            update.version >= process.floor?.version ?? 0
        {
            (process.inForce, process.floor, process.isLost) = (update, update, false)
        } else if wasUnchecked, process.inForce == nil {
            process.isLost = found.isLost
        }
        return found.inForce
    }
}
