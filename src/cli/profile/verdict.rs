//! The verdict about a profile: its hottest function, in a sentence.

use super::{Amount, ShortFiles};
use crate::analysis::profile::{FrameBy, Groups, Selected, Words, hottest};
use crate::cli::session::Session;
use crate::model::profile::Metric;

/// The hottest function with the caller that matters. `None` if no function has a cost of its own.
pub(crate) fn hottest_function(
    selected: &Selected<'_>,
    metric: &Metric,
    session: &Session,
) -> Option<String> {
    let groups = Groups::of(selected.profile, FrameBy::Function);
    let hottest = hottest(selected, &groups, metric)?;
    let amount = Amount::new(metric, metric.whole(&selected.total), session.common.bytes);
    let files = ShortFiles::of_profile(selected.profile, session.common.verbose);
    Some(hottest.sentence(&Words {
        name: &|label| files.name(&label.name, &label.namespace, None),
        amount: &|value| amount.show(value),
    }))
}
