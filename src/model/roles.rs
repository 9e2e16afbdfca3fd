//! The roles of types: the meaning of their objects in an explanation of memory use.

/// The role of the objects of a type in their runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// An object of the program or of one of its libraries.
    Program,
    /// An object of the standard library of a language whose types are as informative as those of the program. The
    /// name of one of its fields is not, so that a place with a name of the program is preferred.
    Library,
    /// An object of the program whose type has no name of its own, such as a plain object of
    /// JavaScript.
    Record,
    /// A plain value, or data of the runtime itself.
    Runtime,
    /// A part of the object that holds it, such as the table of a map.
    Inside,
    /// A part of a hash table that exists because keys have equal hashes.
    Collided,
    /// A collection, with the word for it: `map`, `list`, `queue`.
    Collection(&'static str),
    /// A function with the variables that it uses, or the variables.
    Closure,
    /// A thread.
    Thread,
    /// A class loader, with its classes.
    Loader,
    /// The value of a thread-local variable, with the variable.
    ThreadLocal,
    /// A task that waits for a thread.
    Task,
    /// A timer.
    Timer,
    /// An entry for an object that waits for its finalizer.
    Finalizer,
    /// A text that is a part of another text, which it keeps alive.
    Slice,
    /// A text that consists of other texts, and counts as an object of the named type.
    Rope(&'static str),
    /// A call frame whose fields are variables, or an object that resumes one, such as a generator.
    /// Its value is the name of the function.
    Frame,
    /// Data of the runtime about objects, such as their layout. They do not explain why an object
    /// is alive.
    Hidden,
    /// A method of a class, with the variables that its code uses. It does not explain more than other data of
    /// the runtime, but its class has a name.
    Method,
    /// An object that represents a file of the program, with the field that has its name.
    File(&'static str),
    /// A field that contains the listeners of an object, by event, or a part of the object with them.
    Listeners,
    /// A field that puts a mark before the name of its object, as in `%main::cache` of Perl.
    Sigil(&'static str),
    /// An object or a group of roots that holds variables without their names, such as those of functions
    /// that may run again. With a description of such a variable.
    Variables(&'static str),
    /// An object through which everything is reached, such as the global object of a page.
    Passage,
}

/// The roles of the types of a runtime, by name. `*` represents any text. A name with a colon is
/// compared with the namespace, a colon and the name, too. The first one that fits counts.
pub type Roles = &'static [(&'static str, Role)];

impl Role {
    /// Whether the objects are parts of others and so are not worth naming.
    pub fn is_part(self) -> bool {
        matches!(
            self,
            Self::Inside | Self::Collided | Self::ThreadLocal | Self::Finalizer | Self::Listeners
        )
    }

    /// Whether the objects are data of the runtime that do not explain why others are alive.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Hidden | Self::Method)
    }
}

pub(super) fn role_in(roles: Roles, namespace: &str, name: &str) -> Option<Role> {
    // For example `dart:core:_List`. Both libraries and names may contain colons: `Thread::Queue`.
    let fits = |pattern: &str| {
        fits(pattern, name)
            || pattern.contains(':') && fits(pattern, &format!("{namespace}:{name}"))
    };
    roles.iter().find(|(pattern, _)| fits(pattern)).map(|(_, role)| *role)
}

fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::{Role, fits, role_in};

    #[test]
    fn names_with_colons_need_no_namespace() {
        let roles = &[("Thread::Queue", Role::Hidden), ("dart:core:_List", Role::Inside)];
        assert_eq!(role_in(roles, "", "Thread::Queue"), Some(Role::Hidden));
        assert_eq!(role_in(roles, "dart:core", "_List"), Some(Role::Inside));
        assert_eq!(role_in(roles, "", "_List"), None);
    }

    #[test]
    fn names_fit_with_any_text_at_the_stars() {
        for (pattern, name, expected) in [
            ("java.util.HashMap", "java.util.HashMap", true),
            ("java.util.HashMap", "java.util.HashMap$Node", false),
            ("java.*", "java.util.HashMap", true),
            ("*$Node", "java.util.HashMap$Node", true),
            ("*$$Lambda*", "app.Main$$Lambda/0x7f", true),
            ("*$$Lambda*", "app.Main", false),
            ("java.util.*$Node", "java.util.HashMap$Node", true),
            ("java.util.*$Node", "app.HashMap$Node", false),
            ("a*b*a", "aba", true),
            ("a*b*a", "ab", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
