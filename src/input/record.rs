//! Records, each declared once: for every field its name, how it is read, its phrase in errors, and
//! how `cat` shows it.
//!
//! ```text
//! record! {
//!     /// A stack frame.
//!     pub struct StackFrame<'a>(version: Version) {
//!         /// Its lowest address.
//!         sp: u64 = uvarint("a frame's stack pointer") => address,
//!         /// The address where it continues. `None` before version 2.
//!         next: Option<u64> = uvarint("a frame's continuation") if version >= Version::V2 => address as "next_pc",
//!         /// The positions of its pointers.
//!         pointers: Pointers<'a> = Pointers::read(version) => with(Pointers::pass_to),
//!         /// Zeros in every file seen.
//!         reserved: u64 = uvarint("the reserved number of a frame"),
//!     }
//! }
//! ```
//!
//! Each line is a field in the order of the file:
//!
//! * after `=` comes the function that reads the field; it takes the cursor and these arguments,
//!   which may use the parameters after the structure's name, and earlier fields;
//! * a field with `if` is an `Option`, read and shown only where the condition holds;
//! * after `=>` comes the method of [`FieldSink`](crate::model::fields::FieldSink) that shows the
//!   field, under its own name or the one after `as`; `with` calls a function that may show any
//!   number of fields. A field without `=>` is not shown.
//!
//! This gives `StackFrame::read(cursor, version)` and `StackFrame::pass_to(&self, sink)`. `records!`
//! declares an enum in the same way: each line is a tag, the name of the record, and either its
//! fields or the record that it holds. `NAMES` are the names in the order of the lines, `read`
//! takes a tag and gives `None` if no line has it, and the enum is a
//! [`Record`](crate::model::fields::Record). Records that have tags of their own can follow after
//! `else`.

/// Declares a record: see the module.
macro_rules! record {
    // The ways to read a field.
    (@read $cursor:ident [$($read:ident)::+ ($($argument:expr),*)] []) => { $($read)::+($cursor, $($argument),*)? };
    (@read $cursor:ident $call:tt [if $condition:expr]) => {
        if $condition { Some($crate::input::record::record!(@read $cursor $call [])) } else { None }
    };
    // The ways to show one.
    (@pass $sink:ident $field:ident $value:expr, $condition:tt []) => {};
    (@pass $sink:ident $field:ident $value:expr, [] [with($pass:path)]) => { $pass($value, $sink) };
    (@pass $sink:ident $field:ident $value:expr, [] [$show:ident]) => { $sink.$show(stringify!($field), $value.into()) };
    (@pass $sink:ident $field:ident $value:expr, [] [$show:ident as $name:literal]) => { $sink.$show($name, $value.into()) };
    (@pass $sink:ident $field:ident $value:expr, [if $condition:expr] $show:tt) => {
        if let Some(value) = $value {
            $crate::input::record::record!(@pass $sink $field value, [] $show);
        }
    };
    // The name that binds the value of a variant.
    (@bind $name:ident $Held:ty) => { $name };
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? $(($($context:ident: $Context:ty),+))? {$(
            $(#[$doc:meta])*
            $field:ident: $Type:ty = $($read:ident)::+ ($($argument:expr),*) $(if $condition:expr)?
                $(=> $show:ident $(as $shown:literal)? $(($pass:path))?)?,
        )+}
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name $(<$life>)? {$(
            $(#[$doc])*
            pub $field: $Type,
        )+}

        impl $(<$life>)? $name $(<$life>)? {
            /// Reads the fields.
            #[inline]
            pub(super) fn read(
                cursor: &mut $crate::bytes::Cursor $(<$life>)?,
                $($($context: $Context),+)?
            ) -> $crate::error::Result<Self> {
                $(let $field = $crate::input::record::record!(@read cursor [$($read)::+ ($($argument),*)] [$(if $condition)?]);)+
                Ok(Self { $($field),+ })
            }

            pub(super) fn pass_to<S: $crate::model::fields::FieldSink>(&self, sink: &mut S) {
                $($crate::input::record::record!(@pass sink $field self.$field, [$(if $condition)?] [$($show $(as $shown)? $(($pass))?)?]);)+
            }
        }
    };
}

/// Declares an enum of records by tag: see the module.
macro_rules! records {
    (
        $(#[$meta:meta])*
        pub enum $name:ident $(<$life:lifetime>)? $(($($context:ident: $Context:ty),+))? {$(
            $(#[$doc:meta])*
            $tag:literal $record:literal $variant:ident
                $({$(
                    $(#[$field_doc:meta])*
                    $field:ident: $Type:ty = $($read:ident)::+ ($($argument:expr),*) $(if $condition:expr)?
                        $(=> $show:ident $(as $shown:literal)? $(($pass:path))?)?
                ),+ $(,)?})?
                $(($Held:ty) = $reader:ident($($held_argument:expr),*))?,
        )+}
        $(else {$(
            $(#[$other_doc:meta])*
            $other:ident($Other:ty)
        ),+})?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name $(<$life>)? {
            $($(#[$doc])* $variant $({$($(#[$field_doc])* $field: $Type),+})? $(($Held))?,)+
            $($($(#[$other_doc])* $other($Other),)+)?
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// The names of the records that have a tag here.
            #[allow(dead_code)]
            pub(super) const NAMES: &'static [&'static str] = &[$($record),+];

            /// Reads the record of a tag; `None` if no record has that tag.
            #[inline]
            pub(super) fn read(
                tag: u64,
                cursor: &mut $crate::bytes::Cursor $(<$life>)?,
                $($($context: $Context),+)?
            ) -> $crate::error::Result<Option<Self>> {
                Ok(Some(match tag {
                    $($tag => {
                        $($(let $field = $crate::input::record::record!(@read cursor [$($read)::+ ($($argument),*)] [$(if $condition)?]);)+)?
                        Self::$variant $({$($field),+})? $((<$Held>::$reader(cursor, $($held_argument),*)?))?
                    })+
                    _ => return Ok(None),
                }))
            }

            /// Whether a record has this tag, for callers that must know before they read.
            #[allow(dead_code)]
            pub(super) fn has_tag(tag: u64) -> bool {
                [$($tag),+].contains(&tag)
            }

            /// Position of the record's name in `NAMES`, if it has a tag here, to count by name.
            #[allow(dead_code)]
            #[inline]
            pub(super) fn index(&self) -> usize {
                enum Position {
                    $($variant,)+
                    $($($other,)+)?
                }
                match self {
                    $(Self::$variant { .. } => Position::$variant as usize,)+
                    $($(Self::$other(_) => Position::$other as usize,)+)?
                }
            }
        }

        impl $(<$life>)? $crate::model::fields::Record for $name $(<$life>)? {
            #[inline]
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $record,)+
                    $($(Self::$other(record) => record.name(),)+)?
                }
            }

            fn fields<S: $crate::model::fields::FieldSink>(&self, sink: &mut S) {
                match self {
                    $(Self::$variant $({$($field),+})? $(($crate::input::record::record!(@bind record $Held)))? => {
                        $($($crate::input::record::record!(@pass sink $field *$field, [$(if $condition)?] [$($show $(as $shown)? $(($pass))?)?]);)+)?
                        $(<$Held>::pass_to(record, sink);)?
                    })+
                    $($(Self::$other(record) => record.fields(sink),)+)?
                }
            }
        }
    };
}

/// Declares an enum of records that something else reads, such as lines of text: for each its name
/// and its fields, with the method that shows each as in `record!`.
macro_rules! lines {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident<$life:lifetime> {$(
            $(#[$doc:meta])*
            $record:literal $variant:ident
                $(($value:ident: $Value:ty => $show_value:ident $(($pass_value:path))?))?
                $({$(
                    $(#[$field_doc:meta])*
                    $field:ident: $Type:ty => $show:ident $(as $shown:literal)? $(($pass:path))?,
                )+})?,
        )+}
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name<$life> {
            $($(#[$doc])* $variant $(($Value))? $({$($(#[$field_doc])* $field: $Type,)+})?,)+
        }

        impl $name<'_> {
            pub(super) const NAMES: &'static [&'static str] = &[$($record),+];
        }

        impl $crate::model::fields::Record for $name<'_> {
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $record,)+
                }
            }

            fn fields<S: $crate::model::fields::FieldSink>(&self, sink: &mut S) {
                match *self {
                    $(Self::$variant $(($value))? $({$($field),+})? => {
                        $($crate::input::record::record!(@pass sink $value $value, [] [$show_value $(($pass_value))?]);)?
                        $($($crate::input::record::record!(@pass sink $field $field, [] [$show $(as $shown)? $(($pass))?]);)+)?
                    })+
                }
            }
        }
    };
}

pub(in crate::input) use {lines, record, records};
