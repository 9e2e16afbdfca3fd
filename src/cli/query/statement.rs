//! The end of a statement.

/// The first statement of a text. Comments and semicolons may follow it.
///
/// SQLite's wrapper looks for a second statement by preparing the rest, once for each statement, so
/// that a text of many would exhaust the stack. Fails with the offset of the second statement.
pub(super) fn only_statement(sql: &str) -> Result<&str, usize> {
    let mut end = None;
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let at = sql.len() - rest.len();
        let length = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_whitespace() => first.len_utf8(),
            ';' => {
                end = end.or(Some(at));
                1
            }
            _ if end.is_some() => return Err(at),
            '\'' | '"' | '`' => quoted(rest, first),
            '[' => quoted(rest, ']'),
            _ => first.len_utf8(),
        };
        rest = &rest[length..];
    }
    Ok(&sql[..end.unwrap_or(sql.len())])
}

/// The length of a text in quotes. Two quotes in it are two such texts in a row.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::only_statement;

    #[test]
    fn one_statement_ends_at_its_semicolon() {
        for (sql, statement) in [
            ("select 1", "select 1"),
            ("select 1;", "select 1"),
            (" select ';' ; -- ;x\n /* ; */ ;;", " select ';' "),
            ("select 'it''s;' , \"a;b\", `;`, [;]", "select 'it''s;' , \"a;b\", `;`, [;]"),
            ("select 1 -- no; more", "select 1 -- no; more"),
            ("select 'open;", "select 'open;"),
            ("", ""),
        ] {
            assert_eq!(only_statement(sql), Ok(statement), "{sql}");
        }
    }

    #[test]
    fn a_second_statement_is_found() {
        assert_eq!(only_statement("select 1; drop table x"), Err(10));
        assert_eq!(only_statement(&"select 1;".repeat(100_000)), Err(9));
        assert_eq!(only_statement("';'; ';'"), Err(5));
    }
}
