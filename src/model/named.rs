//! Enums whose kinds have names, or are said in words.

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

/// Declares an enum whose kinds display as texts: the format and its arguments after each kind.
macro_rules! worded {
    (
        $(#[$about:meta])* pub enum $Enum:ident {$(
            $(#[$fact:meta])*
            $kind:ident $(($value:ident: $Value:ty))? $({$($(#[$about_field:meta])* $field:ident: $Field:ty,)+})?
                = $format:literal $(, $argument:expr)*;
        )+}
    ) => {
        $(#[$about])*
        pub enum $Enum {
            $($(#[$fact])* $kind $(($Value))? $({$($(#[$about_field])* $field: $Field,)+})?,)+
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$kind $(($value))? $({$($field,)+})? => write!(f, $format $(, $argument)*),)+
                }
            }
        }
    };
}

pub(crate) use named;
pub(crate) use worded;
