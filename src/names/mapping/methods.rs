//! The methods of a mapping: the original frames of a line of a short method.

use super::{JavaMapping, MappedFrame, joined};

/// The maximum number of methods to name if a line cannot distinguish them. More would hide the
/// rest of a frame.
const MOST_NAMES: usize = 4;

/// The line of a method in a mapping.
#[derive(Clone, Copy, Debug)]
struct Method<'m> {
    /// The first and last line in the short class. `None` if the entry applies to all lines.
    lines: Option<(u32, u32)>,
    /// The original class that declares the method.
    owner: &'m str,
    /// The class of an inlined method; otherwise empty.
    class: &'m str,
    name: &'m str,
    /// The first and last line in the source, if stated.
    source: (Option<u32>, Option<u32>),
    short: &'m str,
    is_synthesized: bool,
}

impl JavaMapping {
    /// The original frames of a frame, innermost first: several if methods were inlined there. Line
    /// 0 is unknown. Empty if the mapping does not contain the class.
    ///
    /// A method that the mapping does not have keeps its name.
    pub fn frames(&self, class: &str, method: &str, line: u32) -> Vec<MappedFrame> {
        let Some(original) = self.class(class) else { return Vec::new() };
        let mut methods = self.methods(class);
        methods.retain(|it| it.short == method);
        let at = |it: &Method<'_>| it.lines.is_some_and(|(from, to)| from <= line && line <= to);
        let inlined = methods.iter().filter(|it| line != 0 && at(it));
        // Retrace omits methods that the compiler generated, except at the innermost position.
        let kept = inlined.enumerate().filter(|(depth, it)| *depth == 0 || !it.is_synthesized);
        let frames: Vec<_> = kept.map(|(_, it)| self.frame(it, line)).collect();
        if frames.is_empty() {
            vec![self.ambiguous(&original, method, line, &methods)]
        } else {
            frames
        }
    }

    /// The frame for a line that belongs to no method: the methods of that name, if they are few.
    fn ambiguous(
        &self,
        class: &str,
        short: &str,
        line: u32,
        methods: &[Method<'_>],
    ) -> MappedFrame {
        // Methods without lines are complete. Among those with lines, inlined ones do not count.
        let own = || methods.iter().filter(|it| it.class.is_empty());
        let whole = own().filter(|it| it.lines.is_none()).map(|it| it.name);
        let mut name = joined(whole);
        if name.is_empty() {
            name = joined(own().map(|it| it.name));
        }
        if name.is_empty() || name.split(" | ").count() > MOST_NAMES {
            short.clone_into(&mut name);
        }
        MappedFrame { class: class.to_owned(), method: name, file: self.file(class), line }
    }

    fn frame(&self, method: &Method<'_>, line: u32) -> MappedFrame {
        let class = if method.class.is_empty() { method.owner } else { method.class };
        let line = match (method.lines, method.source) {
            (Some((from, _)), (Some(first), Some(last))) if last > first => {
                first.saturating_add(line.saturating_sub(from)).min(last)
            }
            (_, (Some(first), _)) => first,
            _ => line,
        };
        MappedFrame {
            class: class.to_owned(),
            method: method.name.to_owned(),
            file: self.file(class),
            line,
        }
    }

    /// The methods of the classes with this short name, in the order of the file.
    fn methods(&self, class: &str) -> Vec<Method<'_>> {
        let mut methods: Vec<Method<'_>> = Vec::new();
        for class in self.named(class) {
            for line in self.at(&class.members).lines() {
                match Method::new(line.trim(), self.at(&class.original)) {
                    Some(method) => methods.push(method),
                    None if line.contains("com.android.tools.r8.synthesized") => {
                        methods.last_mut().into_iter().for_each(|it| it.is_synthesized = true);
                    }
                    None => {}
                }
            }
        }
        methods
    }
}

impl<'m> Method<'m> {
    /// `s:e:type Class.name(types):os:oe -> short`. `None` for other lines.
    fn new(line: &'m str, owner: &'m str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let (declaration, short) = line.split_once(" -> ")?;
        let (head, tail) = declaration.split_once('(')?;
        let (_, source) = tail.split_once(')')?;
        let (lines, head) = match head.split_once(':') {
            Some((from, rest)) => {
                let (to, rest) = rest.split_once(':')?;
                (Some((from.parse().ok()?, to.parse().ok()?)), rest)
            }
            None => (None, head),
        };
        let (_, qualified) = head.rsplit_once(' ')?;
        let (class, name) = qualified.rsplit_once('.').unwrap_or(("", qualified));
        let mut numbers = source.split(':').skip(1).map(|number| number.parse().ok());
        let source = (numbers.next().flatten(), numbers.next().flatten());
        Some(Self { lines, owner, class, name, source, short, is_synthesized: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(text: &str) -> JavaMapping {
        JavaMapping::new(text.as_bytes()).unwrap()
    }

    fn shown(mapping: &JavaMapping, class: &str, method: &str, line: u32) -> Vec<String> {
        let frames = mapping.frames(class, method, line);
        frames
            .iter()
            .map(|it| format!("{}.{} {}:{}", it.class, it.method, it.file, it.line))
            .collect()
    }

    const SHOP: &str = "\
# compiler: R8
shop.Cart -> a.a:
# {\"id\":\"sourceFile\",\"fileName\":\"Cart.kt\"}
    java.util.List lines -> a
    int total -> b
    1:3:void add(shop.Line):10:12 -> a
    4:4:int shop.Line.price():7:7 -> a
    4:4:void add(shop.Line):13 -> a
    5:5:void add(shop.Line) -> a
    int size() -> b
    int size(int) -> b
    boolean isEmpty() -> b
    1:1:void lambda$0():20:20 -> c
    # {\"id\":\"com.android.tools.r8.synthesized\"}
    1:1:void caller():30:30 -> c
shop.Left -> a.b:
    1:1:void left():5:5 -> a
    int value -> a
shop.Right -> a.b:
    2:2:void right():6:6 -> a
";

    #[test]
    fn a_line_gives_the_method_and_those_that_were_inlined_there() {
        let shop = mapping(SHOP);
        assert_eq!(shown(&shop, "a.a", "a", 2), ["shop.Cart.add Cart.kt:11"]);
        assert_eq!(
            shown(&shop, "a.a", "a", 4),
            ["shop.Line.price Line.java:7", "shop.Cart.add Cart.kt:13"]
        );
        assert_eq!(shown(&shop, "a.a", "a", 5), ["shop.Cart.add Cart.kt:5"]);
        assert_eq!(shown(&shop, "a.b", "a", 2), ["shop.Right.right Right.java:6"]);
    }

    #[test]
    fn a_line_that_is_not_known_gives_all_methods_of_the_name() {
        let shop = mapping(SHOP);
        assert_eq!(shown(&shop, "a.a", "b", 0), ["shop.Cart.size | isEmpty Cart.kt:0"]);
        assert_eq!(shown(&shop, "a.a", "zz", 9), ["shop.Cart.zz Cart.kt:9"]);
        assert!(shop.frames("a.zz", "a", 1).is_empty());
    }

    #[test]
    fn methods_of_the_compiler_stay_only_where_the_program_stands() {
        let shop = mapping(SHOP);
        assert_eq!(
            shown(&shop, "a.a", "c", 1),
            ["shop.Cart.lambda$0 Cart.kt:20", "shop.Cart.caller Cart.kt:30"]
        );
    }
}
