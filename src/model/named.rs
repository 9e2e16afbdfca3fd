//! Enums whose kinds have names.

/// Declares an enum, the list `ALL` of its kinds, and the function that returns the name of a kind,
/// which is also a part of the kind's documentation.
macro_rules! named {
    (
        $(#[$about:meta])* pub enum $Enum:ident { $($(#[$fact:meta])* $kind:ident = $name:literal,)* }
        $(#[$about_function:meta])* pub fn $function:ident
    ) => {
        $(#[$about])*
        pub enum $Enum {
            $($(#[$fact])* #[doc = concat!("`", $name, "`")] $kind,)*
        }

        impl $Enum {
            /// All kinds, in the order in which they are listed.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            $(#[$about_function])*
            pub fn $function(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;
