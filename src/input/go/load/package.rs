//! The package of a Go type, by its name.

/// Returns the package at the beginning of a type's name: `main` for `main.Session`,
/// `*main.Session` and `[]main.Session`, `net/http` for `net/http.Header`. Maps and channels have
/// the package of their elements. Empty for types without a package, such as `string`, and for
/// names of size and layout.
pub(super) fn package_of(name: &str) -> &str {
    let mut rest = name;
    loop {
        let is_map = ["[", "map[", "map.bucket[", "map.group[", "map.hdr[", "map.iter["]
            .iter()
            .any(|map| rest.starts_with(map));
        let element = ["*", "chan ", "<-chan ", "chan<- ", "noalg."]
            .iter()
            .find_map(|start| rest.strip_prefix(start));
        rest = match element {
            Some(element) => element,
            None if is_map => after_bracket(rest),
            None => return qualifier(rest),
        };
    }
}

/// Returns the text after the bracket that closes the first one.
fn after_bracket(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth = depth.saturating_add(1),
            ']' if depth == 1 => {
                return text.get(at..).and_then(|rest| rest.strip_prefix(']')).unwrap_or_default();
            }
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    ""
}

/// The path before the name of a type. Empty for types without a name, such as `struct { … }`.
fn qualifier(text: &str) -> &str {
    let end = text.find(['[', '(', '{', ' ', '@', '<']).unwrap_or(text.len());
    let path = text.get(..end).unwrap_or_default();
    let last = path.rfind('/').map_or(0, |slash| slash.saturating_add(1));
    match path.get(last..).and_then(|base| base.find('.')) {
        Some(dot) => path.get(..last.saturating_add(dot)).unwrap_or_default(),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::package_of;

    #[test]
    fn packages_are_found_in_names() {
        for (name, expected) in [
            ("main.Session", "main"),
            ("*main.Session", "main"),
            ("[]*main.Session ?", "main"),
            ("[16]net/http.conn", "net/http"),
            ("example.com/app/v2.Item", "example.com/app/v2"),
            ("gopkg.in/yaml%2ev3.node", "gopkg.in/yaml%2ev3"),
            ("map[string]*main.Item", "main"),
            ("map[main.Key][]uint8", ""),
            ("map.group[[4]string]*main.Item", "main"),
            ("chan *main.Node", "main"),
            ("main.List[example.com/app.T]", "main"),
            ("main.(unnamed pointer)", "main"),
            ("runtime.g", "runtime"),
            ("struct { F uintptr; x main.T }", ""),
            ("func(main.T)", ""),
            ("string", ""),
            ("128 B, 4 pointers (7cac)", ""),
            ("type@0x66c650", ""),
            ("[", ""),
            ("", ""),
        ] {
            assert_eq!(package_of(name), expected, "{name}");
        }
    }
}
