//! Names of functions that differ from run to run.

/// Returns the name of a method without what differs from run to run in the name of its class, if
/// that is hidden: `app.Main$$Lambda.run` for `app.Main$$Lambda$89+0x00007f3980008800.1616974404.run`
/// (JDK 17) and `app.Main$$Lambda.0x000000008b046000.run` (JDK 25). `None` if nothing differs.
pub(super) fn without_run(method: &str) -> Option<String> {
    const LAMBDA: &str = "$$Lambda";
    let (class, rest) = match method.find(LAMBDA) {
        Some(at) => {
            let (class, rest) = method.split_at(at + LAMBDA.len());
            (class, digits_after(rest, &['$']).unwrap_or(rest))
        }
        None => method.split_at_checked(method.find("0x")?.checked_sub(1)?)?,
    };
    let without_address = address_after(rest);
    if without_address.is_none() && !class.ends_with(LAMBDA) {
        return None;
    }
    let rest = without_address.unwrap_or(rest);
    let rest = digits_after(rest, &['.', '/']).unwrap_or(rest);
    let is_method = rest.is_empty() || rest.starts_with('.');
    (is_method && class.len() + rest.len() < method.len()).then(|| format!("{class}{rest}"))
}

/// The text after a number.
fn digits_after<'a>(text: &'a str, before: &[char]) -> Option<&'a str> {
    let number = text.strip_prefix(before)?;
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < number.len()).then_some(rest)
}

/// The text after the address of a class, which the JVM writes with 16 digits.
fn address_after(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '.', '/'])?.strip_prefix("0x")?;
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    (digits.len() - rest.len() == 16).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::without_run;

    #[test]
    fn hidden_classes_have_the_same_name_in_each_run() {
        for (method, shown) in [
            ("a.B$$Lambda$89+0x00007f3980008800.1616974404.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda.0x000000008b046000.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda/0x000000008b046000.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda$14/0x0000000800066840.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda$14.834133664.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda$14/834133664.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda$14.run", "a.B$$Lambda.run"),
            ("a.LambdaForm$MH+0x00007f4f3800a000.1639241567.invoke", "a.LambdaForm$MH.invoke"),
            ("a.String$$StringConcat.0x000000003c049400.concat", "a.String$$StringConcat.concat"),
        ] {
            assert_eq!(without_run(method).as_deref(), Some(shown), "{method}");
        }
        for method in [
            "a.B$$Lambda.run",
            "a.B.lambda$main$0",
            "[lib.so]+0x1234",
            "0x00007f3980008800",
            "f 0x00007f3980008800",
            "\u{e9}0x00007f3980008800",
            "a.B$$LambdaX$1.run",
            "",
        ] {
            assert_eq!(without_run(method), None, "{method}");
        }
    }
}
