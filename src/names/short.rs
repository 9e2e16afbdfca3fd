//! Detects names that look as if a minifier had produced them.

use crate::java::package_of;

/// Counts the names of a program that look shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortNames {
    /// The number of names that look shortened.
    pub short: u64,
    /// The number of all names.
    pub all: u64,
}

impl ShortNames {
    /// The minimum number of short names.
    const LEAST: u64 = 3;

    /// Adds a name.
    pub fn add(&mut self, is_short: bool) {
        self.all = self.all.saturating_add(1);
        self.short = self.short.saturating_add(u64::from(is_short));
    }

    /// Whether most names look shortened.
    pub fn are_most(self) -> bool {
        self.short >= Self::LEAST && self.short > self.all / 2
    }
}

/// Whether the name of a function or class of JavaScript looks as if it had been shortened: one or
/// two letters.
pub fn looks_short(name: &str) -> bool {
    let accessor = ["get ", "set ", "#"].into_iter().find_map(|start| name.strip_prefix(start));
    let name = accessor.unwrap_or(name);
    let is_name =
        name.chars().all(|character| character.is_alphanumeric() || "_$".contains(character));
    (1..=2).contains(&name.len()) && is_name
}

/// Whether the name of a Java class looks shortened: one or two letters, as in the classes around
/// it. `None` for classes of the platform, which are not shortened, and for arrays.
pub fn looks_short_in_java(class: &str) -> Option<bool> {
    const PLATFORM: [&str; 8] =
        ["java", "javax", "jdk", "sun", "com.sun", "android", "com.android", "dalvik"];
    let package = package_of(class);
    let is_below = |outer: &&str| {
        package.strip_prefix(*outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if class.ends_with(']') || class.contains('/') || PLATFORM.iter().any(is_below) {
        return None;
    }
    let name = class.get(package.len()..)?.trim_start_matches('.');
    Some(name.split('$').all(|part| (1..=2).contains(&part.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_or_two_letters_are_short() {
        for (name, short) in [
            ("a.b.c", Some(true)),
            ("b$a", Some(true)),
            ("shop.Cart$1", Some(false)),
            ("java.util.Map", None),
            ("int[]", None),
            ("javassist.a", Some(true)),
        ] {
            assert_eq!(looks_short_in_java(name), short, "{name}");
        }
        assert!(
            looks_short("get a") && looks_short("#b") && !looks_short("run") && !looks_short("")
        );
    }
}
