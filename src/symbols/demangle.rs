//! Names in the form that programmers write.

use std::fmt::{self, Write};

/// Removes mangling, parameters and hash from the name of a Rust or C++ function. Other names stay.
pub(super) fn demangle(name: &str) -> String {
    let mut out = Bounded(String::new());
    // Mach-O puts an underscore before every name.
    let plain =
        name.strip_prefix('_').filter(|rest| rest.starts_with("_Z") || rest.starts_with("_R"));
    let plain = plain.unwrap_or(name);
    if let Ok(name) = rustc_demangle::try_demangle(plain) {
        let written = write!(out, "{name:#}");
        return if written.is_ok() || !out.0.is_empty() { out.0 } else { plain.to_owned() };
    }
    if !plain.starts_with("_Z") || plain.len() > LONGEST {
        return plain.to_owned();
    }
    // The name of a template is followed by types. Some forms of these cannot be parsed, so every E
    // is tried as the end of the name.
    let ends = plain.match_indices('E').map(|(at, _)| &plain[..=at]).take(MOST_ENDS);
    let names = ends.filter_map(|name| cpp(&format!("{name}vv")));
    cpp(plain).or_else(|| names.into_iter().next()).unwrap_or_else(|| plain.to_owned())
}

/// The name of a C++ function without its parameters. `None` if it is not a mangled name.
fn cpp(mangled: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(mangled).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let mut out = Bounded(String::new());
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(out.0).filter(|name| !name.is_empty())
}

/// The maximum number of ends of a name to try.
const MOST_ENDS: usize = 16;

/// The maximum length of a name in bytes. A short mangled name can expand to gigabytes.
const LONGEST: usize = 16 << 10;

struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn names_are_those_of_the_source() {
        for (mangled, name) in [
            ("_Z5sinesi", "sines"),
            (
                "_ZSt3sinIiEN9__gnu_cxx11__enable_ifIXsrSt12__is_integerIT_E7__valueEdE6__typeES3_",
                "std::sin<int>",
            ),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("__ZN3foo3barEv", "foo::bar"),
            ("main", "main"),
            ("_Zbroken", "_Zbroken"),
        ] {
            assert_eq!(demangle(mangled), name);
        }
    }

    #[test]
    fn a_name_that_would_be_huge_stays_mangled() {
        let nested = format!("_Z1f{}", "St4pairIS_S0_E".repeat(4000));
        assert!(demangle(&nested).len() <= nested.len());
    }
}
