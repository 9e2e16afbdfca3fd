//! Names of functions and classes in the text of a source, JavaScript or TypeScript.
//!
//! A segment leads to the beginning of a function, to its name or to a word before it. There is no
//! parser: the text next to that place is enough, and a wrong name is worse than none.

/// The number of bytes before and after the place that are examined.
const WINDOW: usize = 2 << 10;
/// The number of bytes before a constructor in which the start of its class is searched.
const CLASS_WINDOW: usize = 16 << 10;

/// Words that may precede the name of a function or class.
const MODIFIERS: [&str; 14] = [
    "export",
    "default",
    "declare",
    "async",
    "static",
    "public",
    "private",
    "protected",
    "readonly",
    "override",
    "abstract",
    "get",
    "set",
    "accessor",
];
/// Words before `(` that are not the name of a function.
const KEYWORDS: [&str; 19] = [
    "function", "if", "for", "while", "switch", "catch", "return", "await", "yield", "typeof",
    "void", "delete", "in", "of", "case", "new", "async", "with", "super",
];

/// The name of the function or class at a byte of a source. `generated` is its short name.
pub(super) fn name_in_source(text: &str, at: usize, generated: &str) -> Option<String> {
    let (before, rest) = text.split_at_checked(at)?;
    let rest = head(rest, WINDOW).trim_start();
    let (name, after) = identifier(rest);
    let is_named = without_word(before.trim_end(), "class").is_some() && !name.is_empty();
    if is_named && after.trim_start().starts_with(['{', '<', 'e', 'i']) && name != "extends" {
        return Some(name.to_owned());
    }
    let name = match declared(rest) {
        Declared::Name("constructor") => class_around(tail(before, CLASS_WINDOW)),
        Declared::Name(name) => Some(name.to_owned()),
        Declared::Parameter => {
            let before = before.trim_end();
            assigned(before.strip_suffix('(').unwrap_or(before), generated)
        }
        Declared::Anonymous => match path_before(head_of_method(before, rest)) {
            "" => assigned(before, generated),
            "constructor" => class_around(tail(before, CLASS_WINDOW)),
            name => chosen(name, ""),
        },
        Declared::Other => None,
    }?;
    // V8 names a function `a.b` if it is assigned to `a.prototype.b`.
    Some(name.replace(".prototype.", "."))
}

/// A declaration that begins at a place.
enum Declared<'t> {
    /// A function, method, class or variable with this name.
    Name(&'t str),
    /// The parameter of an arrow function.
    Parameter,
    /// A function or class without a name, which may be assigned to something.
    Anonymous,
    /// Something else.
    Other,
}

fn declared(text: &str) -> Declared<'_> {
    let mut rest = text;
    let mut is_declaration = false;
    loop {
        let (word, after) = identifier(rest);
        let next = after.trim_start();
        match word {
            "" => break,
            "async" if is_arrow(next) => return Declared::Anonymous,
            // A method may have the name of a modifier.
            _ if next.starts_with(['(', '<', '=', ':', ';']) && !is_declaration => break,
            "function" | "class" | "const" | "let" | "var" => {
                is_declaration = true;
                rest = next.strip_prefix('*').unwrap_or(next).trim_start();
                if word == "class" && matches!(identifier(rest).0, "extends" | "implements") {
                    return Declared::Anonymous;
                }
            }
            _ if MODIFIERS.contains(&word) && !is_declaration => rest = next,
            _ => break,
        }
    }
    let rest = rest.strip_prefix('*').unwrap_or(rest).trim_start();
    let (name, after) = identifier(rest);
    let after = after.trim_start();
    if name.is_empty() {
        return if rest.starts_with(['(', '<', '{']) && (is_declaration || !rest.starts_with('{')) {
            Declared::Anonymous
        } else {
            Declared::Other
        };
    }
    match is_declaration {
        true if name == "function" => Declared::Anonymous,
        true => Declared::Name(name),
        false if name == "function" || name == "class" => Declared::Anonymous,
        false if after.starts_with("=>") => Declared::Parameter,
        false if after.starts_with(['(', '<']) && is_function_head(after) => Declared::Name(name),
        // The name of an assigned function, or a parameter in parentheses.
        false if after.starts_with(['=', ':', ',', ')', '?']) => {
            if names_a_function(after) {
                Declared::Name(name)
            } else {
                Declared::Parameter
            }
        }
        false => Declared::Other,
    }
}

/// Whether `= …` or `: …` after a name assigns it a function or class.
fn names_a_function(text: &str) -> bool {
    let Some(value) = text.strip_prefix(['=', ':']) else { return false };
    let value = value.trim_start();
    let (word, after) = identifier(value);
    match word {
        "function" | "class" => true,
        "async" => names_a_function(&format!("={after}")) || after.trim_start().starts_with('('),
        "" => value.starts_with('(') && is_arrow(value),
        _ => after.trim_start().starts_with("=>"),
    }
}

/// Whether parentheses are the parameters of an arrow function.
fn is_arrow(text: &str) -> bool {
    let after = after_parentheses(text).map(str::trim_start);
    after.is_some_and(|after| {
        after.starts_with("=>") || after.starts_with(':') && after.contains("=>")
    })
}

/// Whether `(…)`, with type parameters before it, are the parameters of a function with a body.
fn is_function_head(text: &str) -> bool {
    let Some(start) = text.find('(') else { return false };
    let parameters = text.get(start..).unwrap_or_default();
    match after_parentheses(parameters).map(str::trim_start) {
        Some(after) => after.starts_with(['{', ':']),
        // The parentheses are longer than the searched text.
        None => true,
    }
}

/// The text before the parentheses of a named method or function; empty for other parentheses.
fn head_of_method<'t>(before: &'t str, parentheses: &str) -> &'t str {
    if parentheses.starts_with('(') && is_function_head(parentheses) {
        tail(before, WINDOW)
    } else {
        ""
    }
}

/// Returns the text after the parentheses at its beginning.
fn after_parentheses(text: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth = depth.saturating_add(1),
            b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(at.saturating_add(1)..);
                }
            }
            _ => {}
        }
    }
    None
}

/// The target of an assignment, which ends before the value: `a =`, `a: T =`, `{a:`, `a.b =`.
fn assigned(before: &str, generated: &str) -> Option<String> {
    let mut before = tail(before, WINDOW).trim_end();
    before = without_word(before, "async").unwrap_or(before);
    // A function in parentheses is the same value as without.
    before = before.strip_suffix('(').map_or(before, |outer| match outer.trim_end() {
        outer if outer.ends_with('=') => outer,
        _ => before,
    });
    if let Some(target) = before.strip_suffix('=') {
        if target.ends_with(['=', '!', '<', '>']) {
            return None;
        }
        let target = target.trim_end_matches(['|', '&', '?', '+']).trim_end();
        let path = path_before(target);
        let is_type = target.strip_suffix(path).is_none_or(|start| {
            start.trim_end().ends_with([':', '>', '|', '&']) || path.is_empty()
        });
        let name = if is_type { annotated(target)? } else { path };
        return chosen(name, generated);
    }
    // V8 does not report a name for a property that the generated code does not name.
    let key = before.strip_suffix(':').filter(|_| !generated.is_empty())?.trim_end();
    let key = key.strip_suffix(['"', '\'']).map_or_else(
        || path_before(key),
        |text| text.rsplit(['"', '\'']).next().unwrap_or_default(),
    );
    chosen(key, generated)
}

/// The whole path of a name that is assigned, if the generated name is a path too.
fn chosen(path: &str, generated: &str) -> Option<String> {
    let name =
        if generated.contains('.') { path } else { path.rsplit('.').next().unwrap_or_default() };
    (!name.is_empty()).then(|| name.to_owned())
}

/// The name in a line that declares it with its type: `const name: Type`.
fn annotated(target: &str) -> Option<&str> {
    let line = target.rsplit(['\n', ';', '{']).next().unwrap_or_default();
    let mut rest = line.trim_start();
    loop {
        let (word, after) = identifier(rest);
        if !MODIFIERS.contains(&word) && !["const", "let", "var"].contains(&word) {
            let is_typed = after.trim_start().starts_with([':', '?', '!']);
            return (is_typed && !word.is_empty()).then_some(word);
        }
        rest = after.trim_start();
    }
}

/// The name of the class in whose body a text ends.
fn class_around(before: &str) -> Option<String> {
    let mut depth = 0_u32;
    let open = before.bytes().rev().position(|byte| {
        match byte {
            b'}' => depth = depth.saturating_add(1),
            b'{' if depth == 0 => return true,
            b'{' => depth = depth.saturating_sub(1),
            _ => {}
        }
        false
    })?;
    let head = before.get(..before.len().checked_sub(open)?.checked_sub(1)?)?;
    let start = head.rfind([';', '}', '\n']).map_or(0, |at| at.saturating_add(1));
    let is_class = |&at: &usize| {
        let (outside, rest) = head.split_at_checked(at).unwrap_or_default();
        at >= start && identifier(rest).0 == "class" && !outside.ends_with(is_part)
    };
    let class = head.rmatch_indices("class").map(|(at, _)| at).find(is_class)?;
    let (outside, rest) = head.split_at_checked(class)?;
    match declared(rest) {
        Declared::Name(name) => Some(name.to_owned()),
        _ => assigned(outside, "a"),
    }
}

/// The identifier at the beginning of a text, and the rest.
fn identifier(text: &str) -> (&str, &str) {
    let start = usize::from(text.starts_with('#'));
    let name = text.get(start..).unwrap_or_default();
    let end = name.find(|character| !is_part(character)).unwrap_or(name.len());
    text.split_at_checked(start.saturating_add(end)).unwrap_or_default()
}

/// The identifiers with dots that a text ends with.
fn path_before(text: &str) -> &str {
    let is_path = |character: char| is_part(character) || matches!(character, '.' | '#');
    let path = text.trim_end_matches(is_path);
    let path = text.get(path.len()..).unwrap_or_default();
    if KEYWORDS.contains(&path) { "" } else { path.trim_start_matches('.') }
}

/// A text without the word that it ends with.
fn without_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let start = text.strip_suffix(word)?;
    (!start.ends_with(is_part)).then(|| start.trim_end())
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

/// The beginning of a text, at most this many bytes.
fn head(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// The end of a text, at most this many bytes.
fn tail(text: &str, most: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(most));
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name at `▶` in a source, for a function with this short name.
    fn name(source: &str, generated: &str) -> Option<String> {
        let at = source.find('▶').unwrap();
        name_in_source(&source.replace('▶', ""), at, generated)
    }

    #[test]
    fn functions_have_the_names_of_their_source() {
        for (source, expected) in [
            ("export ▶function countPrimes(limit: number): number {", "countPrimes"),
            ("export function ▶countPrimes(limit: number): number {", "countPrimes"),
            ("function countPrimes▶(limit) {", "countPrimes"),
            ("export const ▶sortNumbers = (count: number) => {", "sortNumbers"),
            ("const sortNumbers = ▶(count: number) => {", "sortNumbers"),
            ("const sortNumbers = (▶count: number) => {", "sortNumbers"),
            ("const sortNumbers = async ▶(count) => {", "sortNumbers"),
            ("const sortNumbers = ▶async (count) => {", "sortNumbers"),
            ("const sortNumbers = ▶count => {", "sortNumbers"),
            ("let a = 1, pick = ▶count => {", "pick"),
            ("const hash: (text: string) => number = ▶function (text) {", "hash"),
            ("export const make: Maker<Other> = ▶(start) => {", "make"),
            ("  ▶onExpire = () => this.size;", "onExpire"),
            ("  onExpire = ▶() => this.size;", "onExpire"),
            ("  private onExpire: () => void = ▶() => this.size;", "onExpire"),
            ("  ▶remember(userName: string): SessionRecord {", "remember"),
            ("  private async ▶remember<T>(userName: T) {", "remember"),
            ("  ▶private remember(userName) {", "remember"),
            ("  remember▶(userName) {", "remember"),
            ("  get ▶size() {", "size"),
            ("  ▶get size() {", "size"),
            ("  ▶get(key) {", "get"),
            ("  ▶#mixToken(salt) {", "#mixToken"),
            ("export ▶async function loadReport(name) {", "loadReport"),
            ("export ▶function* walkParts(parts) {", "walkParts"),
            ("a = { onOpen: ▶(name) => 1", "onOpen"),
            ("a = { \"on-error\": ▶function (name) {", "on-error"),
            ("return ▶function increment() {", "increment"),
            ("export ▶class Session {", "Session"),
            ("export class ▶Session extends Base {", "Session"),
            ("export const Session = ▶class extends Base {", "Session"),
            ("export class Session {\n  a = { b: 1 };\n  ▶constructor(name) {", "Session"),
            ("const Session = class extends Base {\n  ▶constructor(name) {", "Session"),
            ("class A { m() {} }\nclass B extends mix(A) { x = 1; ▶constructor() {", "B"),
        ] {
            assert_eq!(name(source, "b").as_deref(), Some(expected), "{source}");
        }
        let path = "LegacyPanel.prototype.paint = ▶function () {";
        assert_eq!(name(path, "f.paint").as_deref(), Some("LegacyPanel.paint"));
        assert_eq!(name(path, "b").as_deref(), Some("paint"));
    }

    #[test]
    fn what_has_no_name_gets_none() {
        for source in [
            "parts.map(▶(part) => part.a)",
            "parts.map(▶part => part.a)",
            "parts.map((▶part) => part.a)",
            "if (a == ▶(b) => c)",
            "child.on(\"change\", ▶() => 1)",
            "(async ▶() => {",
            "return ▶() => 1",
            "x = a ? 1 : 2; ▶b.c(d);",
            "▶{ a: 1 }",
            "a ▶} else {",
            "▶",
        ] {
            assert_eq!(name(source, ""), None, "{source}");
        }
    }
}
