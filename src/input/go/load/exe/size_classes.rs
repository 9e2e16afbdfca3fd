//! The slot sizes of Go's allocator.

/// Sizes of slots up to 32 KiB (`runtime/sizeclasses.go`, the same in Go 1.16 to 1.27).
const CLASSES: [u64; 67] = [
    8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352,
    384, 416, 448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048,
    2304, 2688, 3072, 3200, 3456, 4096, 4864, 5120, 5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728,
    10240, 10880, 12288, 13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672,
];

/// The slot sizes for 0 to 1024 bytes in steps of 8, which cover most objects.
#[allow(clippy::indexing_slicing, reason = "computed by the compiler")]
const SMALL: [u16; 129] = {
    let (mut small, mut class, mut step) = ([0; 129], 0, 0);
    while step < small.len() {
        if CLASSES[class] < step as u64 * 8 {
            class += 1;
        }
        small[step] = CLASSES[class] as u16;
        step += 1;
    }
    small
};

/// The size of the slot for an allocation of `bytes` bytes.
#[inline]
pub(super) fn size_class(bytes: u64) -> u64 {
    if let Some(class) = SMALL.get(usize::try_from(bytes.div_ceil(8)).unwrap_or(usize::MAX)) {
        return (*class).into();
    }
    let index = CLASSES.partition_point(|class| *class < bytes);
    match CLASSES.get(index) {
        Some(class) => *class,
        None if bytes <= 32768 => 32768,
        None => bytes.div_ceil(8192).saturating_mul(8192),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_class_is_the_smallest_that_holds_the_bytes() {
        for bytes in 0..=40_000 {
            let class = CLASSES.iter().copied().find(|class| *class >= bytes);
            let wanted = class.unwrap_or(if bytes <= 32768 { 32768 } else { 40960 });
            assert_eq!(size_class(bytes), wanted, "{bytes}");
        }
    }
}
