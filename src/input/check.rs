//! The result of `check`: one finding for each invariant that the format promises.

use super::info::Damage;
use crate::error::Error;
use crate::model::heap::LoadWarning;
use crate::model::named::worded;
use serde::Serialize;

/// The outcome of one rule.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the rule, dotted: `memstats.heap_objects`.
    pub rule: String,
    /// Whether the rule holds.
    pub ok: bool,
    /// The expected number, or the allowed maximum; `message` states which.
    pub limit: u64,
    /// The actual number.
    pub actual: u64,
    /// The comparison, with its numbers, as a sentence without a full stop.
    pub message: String,
}

/// All findings of one dump.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Findings {
    /// The findings, in the order in which the rules were checked.
    pub findings: Vec<Finding>,
    /// Peculiarities of the file that are not errors.
    pub warnings: Vec<CheckWarning>,
    /// The damage that stopped the reading; rules that need the rest of the file were not checked.
    pub damage: Option<Damage>,
    /// The beginning of all messages.
    prefix: String,
}

impl Findings {
    /// Returns empty findings for a part of a dump, such as `snapshot 2`.
    pub(super) fn of_part(name: &str) -> Self {
        Self { prefix: format!("{name}: "), ..Self::default() }
    }

    /// Whether every rule holds. Damage is separate: see [`Findings::damage`].
    pub fn ok(&self) -> bool {
        self.findings.iter().all(|finding| finding.ok)
    }

    /// Records that two numbers must be equal. `message` describes them: `objects against the
    /// header's objectCount`.
    pub fn equal(&mut self, rule: impl Into<String>, expected: u64, actual: u64, message: &str) {
        self.push(
            rule,
            expected == actual,
            expected,
            actual,
            format!("{message}: {actual}, should be {expected}"),
        );
    }

    /// Notes that a number must not exceed a limit.
    pub fn at_most(&mut self, rule: impl Into<String>, limit: u64, actual: u64, message: &str) {
        self.push(
            rule,
            actual <= limit,
            limit,
            actual,
            format!("{message}: {actual}, at most {limit}"),
        );
    }

    /// Notes that something must not occur. `message` names it in the plural: `references to
    /// objects that do not exist`.
    pub fn none(&mut self, rule: impl Into<String>, actual: u64, message: &str) {
        self.push(rule, actual == 0, 0, actual, format!("{message}: {actual}"));
    }

    /// Notes a finding in full.
    pub fn push(
        &mut self,
        rule: impl Into<String>,
        ok: bool,
        limit: u64,
        actual: u64,
        message: String,
    ) {
        self.findings.push(Finding {
            rule: rule.into(),
            ok,
            limit,
            actual,
            message: format!("{}{message}", self.prefix),
        });
    }

    /// Records a peculiarity that is not an error, if its count is not 0.
    pub(super) fn tolerate(&mut self, count: u64, warning: impl FnOnce(u64) -> CheckWarning) {
        self.warnings.extend((count > 0).then(|| warning(count)));
    }

    /// Records the damage that stopped the reading. The first damage counts.
    pub fn set_damage(&mut self, error: Option<Error>) {
        let Some(error) = error else { return };
        self.damage.get_or_insert(Damage { error });
    }
}

worded! {
    /// A peculiarity of a file that is not an error: its writer is known to do so. Displays as a text
    /// without a full stop, which is also its form in JSON.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum CheckWarning {
        /// A warning that loading the file gives too.
        Load(warning: LoadWarning) = "{}", warning.text();
        /// Pointers to things that are not SVs of the dump (Perl).
        DanglingPointers(count: u64) = "pointers to things that are not SVs of the dump: {count}";
        /// Functions beyond the count in the header, allocated while the snapshot was written (V8).
        LateFunctions(count: u64) = "functions in trace_function_infos beyond trace_function_count, allocated while the snapshot was written: {count}";
    }
}

impl CheckWarning {
    /// Returns `true` if sound dumps of the runtime usually give this warning.
    pub fn is_usual(&self) -> bool {
        matches!(self, Self::Load(warning) if warning.is_usual())
    }
}

/// Declares counters of faults, each with its rule and its description in `check`, in the order of
/// the report.
///
/// A rule with `if` is checked only where the condition holds. The condition may use the parameters
/// in parentheses, which `report` takes after the findings.
macro_rules! faults {
    (
        $(#[$meta:meta])*
        struct $name:ident $(($($context:ident: $Context:ty),+))? {
            $($counter:ident: $rule:literal $message:literal $(if $condition:expr)?,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        struct $name {
            $($counter: std::num::Saturating<u64>,)+
        }

        impl $name {
            /// Records a finding for every rule.
            fn report(&self, findings: &mut $crate::input::check::Findings $(, $($context: $Context),+)?) {$(
                if true $(&& $condition)? {
                    findings.none($rule, self.$counter.0, $message);
                }
            )+}
        }
    };
}

pub(super) use faults;
