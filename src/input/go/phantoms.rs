//! Objects that do not exist: a mistake of the writer since Go 1.22.
//!
//! The writer takes a span of small objects for an array that fills the span. Since Go 1.22 the
//! span's end holds the bitmap of its pointers, and since Go 1.26 ("Green Tea") also its mark bits,
//! so that the last slots are not objects. They are written all the same, with those bits as their
//! contents. Their share is a few percent in large heaps and over a half in tiny ones; leaving them
//! out, the number and the sizes of the objects are those of the allocator's statistics in every
//! dump that was looked at (Go 1.19, 1.22, 1.27; amd64, 386, s390x, mips).
//!
//! For objects of at most 512 bytes (128 where pointers have 4), whose spans are single pages of
//! 8192 bytes:
//!
//! ```text
//! reserve = 0
//! Green Tea, and size >= 16:  reserve += 128                      scans[63], owned, marks[63], class
//! the span holds pointers:    reserve += 8192 / pointer size / 8  one bit for each word
//! slots   = (8192 - reserve) / size; slots from that number on do not exist
//! ```
//!
//! A span holds pointers if any of its objects has: the types of all objects in it have pointers,
//! or none has. The objects of a span stand together in the file, so one open page is enough to
//! know.

pub use crate::input::info::PhantomRule as Rule;

/// Bytes in a page, which is the whole span for small objects.
const PAGE: u64 = 8192;
/// Bytes of the mark bits in the span.
const INLINE_MARKS: u64 = 128;
/// Bytes of a malloc header, on 32-bit targets too: the slot begins with it, pointers to the object
/// point after it.
pub(super) const HEADER: u64 = 8;
/// Largest slot of an object that may have a malloc header.
pub(super) const LARGEST_WITH_HEADER: u64 = 32768;

impl Rule {
    /// The rule for a build version: `go1.27.3`, `go1.25.1 X:greenteagc`, `devel go1.23-…`. `None`
    /// if the text is not a version.
    pub fn of_version(version: &str) -> Option<Self> {
        let (_, number) = version.split_once("go1.")?;
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let minor: u32 = number.get(..digits)?.parse().ok()?;
        let experiment = |name: &str| version.split([' ', ',', ':', '-']).any(|part| part == name);
        let green_tea =
            minor >= 26 && !experiment("nogreenteagc") || minor == 25 && experiment("greenteagc");
        Some(match minor {
            _ if green_tea => Self::GreenTea,
            22.. if !experiment("noallocheaders") => Self::AllocHeaders,
            _ => Self::None,
        })
    }

    /// The offset in a page at which the slots of `size` bytes end. `scan` is whether the span
    /// holds pointers.
    pub fn slots_end(self, pointer_size: u64, size: u64, scan: bool) -> u64 {
        if self == Self::None || size == 0 || size > largest(pointer_size) {
            return PAGE;
        }
        let marks = if self == Self::GreenTea && size >= 16 { INLINE_MARKS } else { 0 };
        let bitmap = if scan { PAGE.checked_div(pointer_size).unwrap_or(PAGE) / 8 } else { 0 };
        let slots =
            PAGE.saturating_sub(marks).saturating_sub(bitmap).checked_div(size).unwrap_or(0);
        slots.saturating_mul(size)
    }
}

/// The size up to which the bitmap of pointers is in the span. Larger objects with pointers have a
/// malloc header.
pub fn largest(pointer_size: u64) -> u64 {
    pointer_size.saturating_mul(pointer_size).saturating_mul(8)
}

/// Count, sizes and fields of the objects that do not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phantoms {
    /// Their number.
    pub objects: u64,
    /// Sum of their sizes.
    pub bytes: u64,
    /// Entries in their field lists.
    pub fields: u64,
}

/// Counts phantoms in one pass with constant memory, by every rule at once, because the version may
/// not be known.
#[derive(Clone, Debug, Default)]
pub struct PhantomCounter {
    pointer_size: u64,
    largest: u64,
    alloc_headers: Phantoms,
    green_tea: Phantoms,
    page: OpenPage,
}

/// The page whose objects are being read.
#[derive(Clone, Debug, Default)]
struct OpenPage {
    start: u64,
    size: u64,
    scan: bool,
    /// The ends of slots, for `AllocHeaders` with and without pointers, then for `GreenTea`;
    /// `behind` counts the objects after each end.
    ends: [u64; 4],
    behind: [Behind; 4],
    /// The least of `ends`. Nearly all objects lie before it.
    first_end: u64,
}

/// Objects of a page from some offset on, and the entries in their field lists.
#[derive(Clone, Copy, Debug, Default)]
struct Behind {
    objects: u64,
    fields: u64,
}

impl PhantomCounter {
    /// A counter for pointers of 4 or 8 bytes.
    pub fn new(pointer_size: u64) -> Self {
        Self { pointer_size, largest: largest(pointer_size), ..Self::default() }
    }

    /// Adds the next object of the file, with the length of its field list.
    #[inline]
    pub fn add(&mut self, addr: u64, size: u64, fields: u64) {
        if size > self.largest {
            return;
        }
        let offset = addr % PAGE;
        let start = addr.wrapping_sub(offset);
        if start != self.page.start || size != self.page.size {
            self.turn(start, size);
        }
        self.page.scan |= fields > 0;
        if offset >= self.page.first_end {
            for (behind, end) in self.page.behind.iter_mut().zip(self.page.ends) {
                if offset >= end {
                    behind.objects = behind.objects.wrapping_add(1);
                    behind.fields = behind.fields.saturating_add(fields);
                }
            }
        }
    }

    /// Closes the last page and returns the counts by a rule.
    pub fn finish(&mut self, rule: Rule) -> Phantoms {
        self.turn(0, 0);
        match rule {
            Rule::None => Phantoms::default(),
            Rule::AllocHeaders => self.alloc_headers,
            Rule::GreenTea => self.green_tea,
        }
    }

    fn turn(&mut self, start: u64, size: u64) {
        let page = &self.page;
        let [headers_scan, headers_noscan, green_scan, green_noscan] = page.behind;
        self.alloc_headers.add(if page.scan { headers_scan } else { headers_noscan }, page.size);
        self.green_tea.add(if page.scan { green_scan } else { green_noscan }, page.size);
        let end = |rule: Rule, scan| rule.slots_end(self.pointer_size, size, scan);
        let ends = [
            end(Rule::AllocHeaders, true),
            end(Rule::AllocHeaders, false),
            end(Rule::GreenTea, true),
            end(Rule::GreenTea, false),
        ];
        let first_end = ends.iter().copied().min().unwrap_or(PAGE);
        self.page =
            OpenPage { start, size, scan: false, ends, behind: [Behind::default(); 4], first_end };
    }
}

impl Phantoms {
    fn add(&mut self, behind: Behind, size: u64) {
        self.objects = self.objects.saturating_add(behind.objects);
        self.bytes = self.bytes.saturating_add(behind.objects.saturating_mul(size));
        self.fields = self.fields.saturating_add(behind.fields);
    }
}

/// Filters out phantoms by a known rule, in one pass with the memory of a page.
#[derive(Clone, Debug)]
pub struct PhantomFilter {
    rule: Rule,
    pointer_size: u64,
    largest: u64,
    page: FilteredPage,
}

/// The page whose objects are being filtered.
#[derive(Clone, Debug, Default)]
struct FilteredPage {
    start: u64,
    size: u64,
    scan: bool,
    /// The end of the slots if the span holds pointers. `noscan_end` is the end if it does not,
    /// which is never less.
    scan_end: u64,
    noscan_end: u64,
    /// Objects between both ends, until it is known whether the span holds pointers.
    held: Vec<u64>,
}

impl PhantomFilter {
    /// A filter for pointers of 4 or 8 bytes.
    pub fn new(rule: Rule, pointer_size: u64) -> Self {
        Self { rule, pointer_size, largest: largest(pointer_size), page: FilteredPage::default() }
    }

    /// Adds the next object of the file; `scan` is whether it has pointers. Passes address and size
    /// of objects that exist to `real`: this one, or earlier ones, which have no pointers.
    #[inline]
    pub fn add(&mut self, addr: u64, size: u64, scan: bool, mut real: impl FnMut(u64, u64)) {
        if self.rule == Rule::None || size > self.largest {
            return real(addr, size);
        }
        let offset = addr % PAGE;
        let start = addr.wrapping_sub(offset);
        if start != self.page.start || size != self.page.size {
            self.turn(start, size, &mut real);
        }
        self.page.scan |= scan;
        if offset < self.page.scan_end {
            real(addr, size);
        } else if offset < self.page.noscan_end && !self.page.scan {
            self.page.held.push(addr);
        }
    }

    /// Closes the last page, and passes its remaining objects to `real`.
    pub fn finish(&mut self, mut real: impl FnMut(u64, u64)) {
        self.turn(0, 0, &mut real);
    }

    fn turn(&mut self, start: u64, size: u64, real: &mut impl FnMut(u64, u64)) {
        let page = &mut self.page;
        if page.scan {
            page.held.clear();
        }
        page.held.drain(..).for_each(|addr| real(addr, page.size));
        page.scan = false;
        (page.start, page.size) = (start, size);
        page.scan_end = self.rule.slots_end(self.pointer_size, size, true);
        page.noscan_end = self.rule.slots_end(self.pointer_size, size, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_decides_the_rule() {
        for (version, rule) in [
            ("go1.19.8", Some(Rule::None)),
            ("go1.21", Some(Rule::None)),
            ("go1.22.10", Some(Rule::AllocHeaders)),
            ("go1.22.1 X:noallocheaders", Some(Rule::None)),
            ("go1.25.1", Some(Rule::AllocHeaders)),
            ("go1.25.1 X:boringcrypto,greenteagc", Some(Rule::GreenTea)),
            ("go1.26", Some(Rule::GreenTea)),
            ("go1.26rc1 X:nogreenteagc", Some(Rule::AllocHeaders)),
            ("devel go1.23-0123abc Mon", Some(Rule::AllocHeaders)),
            ("framepointer", None),
            ("go1.", None),
            ("", None),
        ] {
            assert_eq!(Rule::of_version(version), rule, "{version}");
        }
    }

    /// All slots of one page, all written. The filter agrees with the counter.
    fn count(pointer_size: u64, size: u64, scan: bool, rule: Rule) -> u64 {
        let (mut counter, mut filter) =
            (PhantomCounter::new(pointer_size), PhantomFilter::new(rule, pointer_size));
        let mut real = Vec::new();
        // The only object with pointers may be the first or the last.
        for scan_slot in [0, PAGE / size - 1] {
            counter = PhantomCounter::new(pointer_size);
            real.clear();
            for slot in 0..PAGE / size {
                let addr = 0xc000_0000_0000 + slot * size;
                counter.add(addr, size, u64::from(scan && slot == scan_slot));
                filter.add(addr, size, scan && slot == scan_slot, |addr, _| real.push(addr));
            }
            filter.finish(|addr, _| real.push(addr));
            assert_eq!(real.len() as u64 + counter.clone().finish(rule).objects, PAGE / size);
        }
        counter.finish(rule).objects
    }

    #[test]
    fn slots_over_the_bitmap_and_the_marks_are_phantoms() {
        assert_eq!(count(8, 64, true, Rule::None), 0);
        assert_eq!(count(8, 64, true, Rule::AllocHeaders), 2);
        assert_eq!(count(8, 64, true, Rule::GreenTea), 4);
        assert_eq!(count(8, 64, false, Rule::AllocHeaders), 0);
        assert_eq!(count(8, 64, false, Rule::GreenTea), 2);
        assert_eq!(
            count(8, 8, false, Rule::GreenTea),
            0,
            "objects of 8 bytes have no marks in the span"
        );
        assert_eq!(count(4, 128, true, Rule::AllocHeaders), 2, "one bit for each of 2048 words");
        assert_eq!(count(4, 256, true, Rule::GreenTea), 0, "larger objects have a header");
        // 8192 = 170 * 48 + 32: the bitmap takes the rest and two slots.
        assert_eq!(count(8, 48, true, Rule::AllocHeaders), 2);
    }

    #[test]
    fn each_page_has_its_own_pointers() {
        let mut counter = PhantomCounter::new(8);
        let page = 0xc000_0000_0000;
        counter.add(page + 8128, 64, 0);
        counter.add(page + 8192, 64, 3);
        counter.add(page + 8192 + 8128, 64, 2);
        assert_eq!(
            counter.finish(Rule::AllocHeaders),
            Phantoms { objects: 1, bytes: 64, fields: 2 }
        );
        assert_eq!(counter.finish(Rule::GreenTea), Phantoms { objects: 2, bytes: 128, fields: 2 });
    }
}
