//! Rows for programs: one JSON document a line, or comma-separated values.

use serde::Serialize;

/// One JSON document a line.
pub(super) fn lines<R: Serialize>(rows: &[R]) -> anyhow::Result<String> {
    let mut text = String::new();
    for row in rows {
        text.push_str(&serde_json::to_string(row)?);
        text.push('\n');
    }
    Ok(text)
}

/// Comma-separated values with a header.
pub(super) fn csv<R: Serialize>(rows: impl IntoIterator<Item = R>) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
