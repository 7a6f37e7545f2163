# From the symbol graphs of a module to its public declarations, each {path, kind, text, isType, isDocumented}.
# What the compiler derives has no place in a file and is left out; so is an extension, whose members are listed.
def declared: select(.location != null and .kind.identifier != "swift.extension" and (.identifier.precise | contains("::SYNTHESIZED::") | not));
def conformances($names): map(select(.kind == "conformsTo"))
    | map({source, name: (.targetFallback // $names[.target] // .target) | split(".") | last})
    | map(select(.name | IN("Copyable", "Escapable", "SendableMetatype") | not))
    | group_by(.source) | map({key: .[0].source, value: (map(.name) | unique | join(", "))}) | from_entries;

(map(.symbols[]) | map({key: .identifier.precise, value: .names.title}) | from_entries) as $names
| (map(.relationships[]) | conformances($names)) as $conformances
| [ .[].symbols[] | declared
    | (.kind.identifier | sub("^swift\\."; "")) as $kind
    | {
        path: (.pathComponents | join(".")),
        kind: $kind,
        isType: ($kind | IN("actor", "class", "enum", "protocol", "struct", "typealias")),
        # An override inherits the doc comment of the declaration that it overrides.
        isDocumented: (.docComment != null or ([.declarationFragments[].spelling] | first == "override")),
        text: (
            (if .accessLevel == "open" then "open " else "" end)
            + ([.declarationFragments[].spelling] | join("") | gsub("\\s+"; " "))
            + ($conformances[.identifier.precise] as $all
                | if $all and ($kind | IN("actor", "class", "enum", "protocol", "struct")) then ": " + $all else "" end)),
      } ]
| unique_by(.path, .kind, .text)
