//! Finds the end of a zstd frame from its headers, without decompressing (RFC 8878, section 3.1.1).

use crate::bytes::Cursor;
use crate::error::{Error, Result};
use byteorder::LE;

/// The first bytes of a zstd frame.
pub(super) const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// No block of a frame is larger, compressed or not.
const LARGEST_BLOCK: u64 = 128 << 10;

/// Takes one whole frame from the cursor.
pub(super) fn take_frame<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let mut walk = *cursor;
    read_frame_header(&mut walk).and_then(|checksum| skip_frame_blocks(&mut walk, checksum))?;
    cursor.take(walk.offset().saturating_sub(cursor.offset()), "a zstd frame")
}

/// Reads the frame header. Returns the number of checksum bytes after the last block.
fn read_frame_header(cursor: &mut Cursor<'_>) -> Result<u64> {
    let start = cursor.offset();
    let magic = cursor.take(4, "the magic of a zstd frame")?;
    if magic != FRAME_MAGIC {
        return Err(Error::corrupt(start, "no zstd frame here")
            .expected("28 b5 2f fd")
            .found(hex(magic)));
    }
    let descriptor = cursor.u8("a zstd frame header")?;
    if descriptor & 0x08 != 0 {
        return Err(Error::corrupt(
            start.saturating_add(4),
            "a reserved bit of a zstd frame header is set",
        ));
    }
    let single_segment = descriptor & 0x20 != 0;
    let window = u64::from(!single_segment);
    let dictionary = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or(0);
    let content_size = match descriptor >> 6 {
        0 => u64::from(single_segment),
        flag => 1 << flag,
    };
    cursor.take(
        u64::saturating_add(window, dictionary).saturating_add(content_size),
        "a zstd frame header",
    )?;
    Ok(if descriptor & 0x04 != 0 { 4 } else { 0 })
}

fn skip_frame_blocks(cursor: &mut Cursor<'_>, checksum: u64) -> Result<()> {
    loop {
        let start = cursor.offset();
        let header = match *cursor.take(3, "the block header of a zstd frame")? {
            [a, b, c] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
            _ => 0,
        };
        let size = header >> 3;
        let stored = match header >> 1 & 3 {
            // A run-length block: one byte, which is repeated.
            1 => 1,
            0 | 2 if size <= LARGEST_BLOCK => size,
            0 | 2 => {
                return Err(Error::corrupt(start, "a block of a zstd frame is too large")
                    .expected("at most 131072 bytes")
                    .found(size.to_string()));
            }
            _ => {
                return Err(Error::corrupt(
                    start,
                    "a block of a zstd frame is of the reserved type",
                ));
            }
        };
        cursor.take(stored, "a zstd frame")?;
        if header & 1 != 0 {
            cursor.take(checksum, "the checksum of a zstd frame")?;
            return Ok(());
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// The next `u64`, read as big-endian instead of little-endian. `None` if fewer than 8 bytes are
/// left. Does not move the cursor.
pub(super) fn swapped_u64(cursor: &Cursor<'_>) -> Option<u64> {
    let mut cursor = *cursor;
    cursor.u64::<LE>("a size").ok().map(u64::swap_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::io::Write;

    fn compress(bytes: &[u8], with: impl Fn(&mut zstd::stream::Encoder<'_, Vec<u8>>)) -> Vec<u8> {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 9).unwrap();
        with(&mut encoder);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_frame_ends_where_zstd_says() {
        let noise: Vec<u8> =
            (0..400_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        for content in [&b""[..], b"x", &[0; 1_000_000], &noise] {
            for checksum in [false, true] {
                for sized in [false, true] {
                    let mut frame = compress(content, |encoder| {
                        encoder.include_checksum(checksum).unwrap();
                        if sized {
                            encoder.set_pledged_src_size(Some(content.len() as u64)).unwrap();
                        }
                    });
                    let length = frame.len();
                    assert_eq!(
                        zstd::zstd_safe::find_frame_compressed_size(&frame).unwrap(),
                        length
                    );
                    frame.extend(b"toc\0\0\0\0\0");
                    assert_eq!(take_frame(&mut Cursor::new(&frame, 5)).unwrap().len(), length);
                }
            }
        }
    }

    #[test]
    fn every_cut_of_a_frame_is_a_truncation_at_its_end() {
        let frame = compress(&(0..2000u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>(), |_| {});
        for cut in 0..frame.len() {
            let error = take_frame(&mut Cursor::new(&frame[..cut], 100)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated);
            assert_eq!(error.offset(), Some(100 + cut as u64));
        }
    }
}
