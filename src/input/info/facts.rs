//! The lines of the summary that `info` shows to people, as the formats declare them.

/// A summary of the heaps of a file, for people.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Parts of the first line.
    pub headline: Vec<Phrase>,
    /// The lines below it.
    pub facts: Vec<Fact>,
}

/// A line of a summary: `objects  1 204  96.1 KiB`.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The subject of the fact. Empty for a line that continues the one above it.
    pub label: &'static str,
    /// The number that matters most, if there is one.
    pub amount: Option<Amount>,
    pub phrase: Phrase,
}

/// Words with amounts between them.
pub type Phrase = Vec<Amount>;

/// A number or words. The output chooses the format of numbers.
#[derive(Clone, Debug)]
pub enum Amount {
    Text(String),
    Count(u64),
    Bytes(u64),
    /// A share of a whole, from 0 to 1.
    Share(f64),
    /// A number with its noun, in the singular and in the plural.
    Counted(u64, &'static str, &'static str),
}

impl From<&str> for Amount {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Amount {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Summary {
    /// Adds words to the first line.
    pub(super) fn head(&mut self, text: impl Into<Amount>) {
        self.headline.push(vec![text.into()]);
    }

    pub(super) fn fact(&mut self, label: &'static str, amount: Amount, phrase: Phrase) {
        self.facts.push(Fact { label, amount: Some(amount), phrase });
    }

    /// Adds a line without a number of its own.
    pub(super) fn remark(&mut self, label: &'static str, phrase: Phrase) {
        self.facts.push(Fact { label, amount: None, phrase });
    }
}

/// Makes a phrase of words and amounts.
macro_rules! phrase {
    ($($part:expr),* $(,)?) => { vec![$($crate::input::info::facts::Amount::from($part)),*] };
}
pub(super) use phrase;

/// Phrases as a list: `3 arrays, 2 strings`.
pub(super) fn list(phrases: impl IntoIterator<Item = Phrase>) -> Phrase {
    let mut all = Phrase::new();
    for phrase in phrases {
        if !all.is_empty() {
            all.push(Amount::from(", "));
        }
        all.extend(phrase);
    }
    all
}

/// Numbers with names as a list: `3 arrays, 2 strings`.
pub(super) fn numbers<N: Into<String>>(counts: impl IntoIterator<Item = (N, u64)>) -> Phrase {
    list(
        counts
            .into_iter()
            .map(|(name, count)| phrase![Amount::Count(count), format!(" {}", name.into())]),
    )
}
