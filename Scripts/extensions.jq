# In a symbol graph of one module that extends another, hands each member from the extension to the extended type, so that the
# page of that type shows it.
(.relationships | map(select(.kind == "extensionTo") | {key: .source, value: .target}) | from_entries) as $types
| .symbols |= map(select(.kind.identifier != "swift.extension"))
| .relationships |= map(select(.kind != "extensionTo") | .source = ($types[.source] // .source) | .target = ($types[.target] // .target))
