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

/// Comma-separated values with a header, also where there are no rows.
pub(super) fn csv<R: Serialize + Default>(rows: impl IntoIterator<Item = R>) -> anyhow::Result<String> {
    let mut rows = rows.into_iter().peekable();
    let is_empty = rows.peek().is_none();
    let mut writer = csv::Writer::from_writer(Vec::new());
    // The names of columns are known from a row alone.
    for row in rows.chain(is_empty.then(R::default)) {
        writer.serialize(row)?;
    }
    let mut text = String::from_utf8(writer.into_inner()?)?;
    if is_empty {
        text.truncate(text.find('\n').map_or(0, |end| end + 1));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Serialize)]
    struct Row {
        name: &'static str,
        count: u64,
    }

    #[test]
    fn the_header_is_there_without_rows() {
        assert_eq!(csv::<Row>([]).unwrap(), "name,count\n");
        assert_eq!(csv([Row { name: "a", count: 1 }]).unwrap(), "name,count\na,1\n");
    }
}
