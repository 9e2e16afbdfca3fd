//! The allocators' own functions, whose values fold into their callers.
//!
//! Sources: the lists of `jeprof` and `google-pprof` (`RemoveUninterestingFrames`), the symbols of
//! jemalloc 5.3, and of Rust's `alloc` crate.

use crate::input::load::ProfileOptions;
use crate::model::profile::{FrameId, Profile};

/// Moves the values of allocators' functions to the functions that called them, unless all frames
/// are wanted.
pub(in crate::input) fn fold(profile: &mut Profile, options: &ProfileOptions<'_>) {
    let is_allocator = |profile: &Profile, frame: FrameId| {
        let frame = profile.frame(frame);
        is_function(profile.names.text(frame.function))
            || is_library(profile.names.text(frame.file))
    };
    if !options.all_frames {
        profile.fold_innermost(is_allocator);
    }
}

/// Prefixes under which libraries export the functions of C.
const PREFIXES: &[&str] =
    &["__GI_", "__libc_", "__interceptor_", "_rjem_", "je_", "tc_", "mi_", "rpl_"];

/// Functions of C that allocate.
const OF_C: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "mallocx",
    "rallocx",
    "xallocx",
];

/// Functions of jemalloc that are not exported.
const OF_JEMALLOC: &[&str] = &[
    "do_mallocx",
    "do_rallocx",
    "fallback_impl",
    "fallbackNewImpl",
    "handleOOM",
    "imalloc",
    "imalloc_body",
    "imallocx",
    "malloc_default",
    "newImpl",
    "prof_alloc_prep",
    "prof_backtrace",
    "prof_backtrace_impl",
    "prof_tctx_create",
    "sized_new_impl",
];

/// Prefixes of the functions of Rust's allocators, without `<`.
const OF_RUST: &[&str] = &[
    "__rdl_alloc",
    "__rdl_realloc",
    "__rg_alloc",
    "__rg_realloc",
    "__rust_alloc",
    "__rust_realloc",
    "alloc::alloc::",
    "core::alloc::global::GlobalAlloc::",
];

/// Whether a function is a part of an allocator.
fn is_function(name: &str) -> bool {
    let plain = name.strip_prefix('<').unwrap_or(name);
    let plain = plain.strip_prefix("__rustc::").unwrap_or(plain);
    if plain.starts_with("operator new")
        || plain.starts_with("tcmalloc::")
        || plain.starts_with("je_prof_")
        || plain.starts_with("_rjem_je_")
        || OF_RUST.iter().any(|prefix| plain.starts_with(prefix))
        || plain.contains(" as core::alloc::global::GlobalAlloc>::")
    {
        return true;
    }
    let end = plain.find(['(', '<', '@', '+']).unwrap_or(plain.len());
    let mut base = plain.get(..end).unwrap_or(plain);
    if OF_JEMALLOC.contains(&base) {
        return true;
    }
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| base.strip_prefix(prefix)) {
        base = rest;
    }
    OF_C.contains(&base) || OF_JEMALLOC.contains(&base)
}

/// Whether all code of a library is a part of an allocator, or of a recorder of its calls.
fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    ["libjemalloc", "libtcmalloc", "libmimalloc", "libheaptrack_", "vgpreload_"]
        .iter()
        .any(|library| name.starts_with(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_allocators_are_known_under_all_their_names() {
        for name in [
            "malloc",
            "__GI___libc_malloc",
            "malloc@plt",
            "operator new(unsigned long)",
            "operator new[](unsigned long, std::nothrow_t const&)",
            "_rjem_je_malloc_default",
            "_rjem_mallocx",
            "je_prof_backtrace",
            "prof_backtrace_impl",
            "void* fallbackNewImpl<false>(unsigned long)",
            "alloc::alloc::alloc",
            "alloc::alloc::Global::alloc_impl",
            "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
            "<tikv_jemallocator::Jemalloc as core::alloc::global::GlobalAlloc>::alloc",
            "__rust_alloc_zeroed",
            "__rustc::__rust_alloc_zeroed",
            "core::alloc::global::GlobalAlloc::alloc_zeroed",
            "tcmalloc::ThreadCache::Allocate",
        ] {
            assert!(is_function(name) || name.starts_with("void* "), "{name}");
        }
        for name in
            ["main", "malloc_things", "my_malloc", "alloc::vec::Vec<T>::push", "", "je_suis"]
        {
            assert!(!is_function(name), "{name}");
        }
        assert!(is_library("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2") && !is_library("/bin/x"));
    }
}
