//! Finds the known name that is nearest to an unknown one.

/// The nearest name, if it is similar enough.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |candidate: &str| 1 + candidate.len() / 4;
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= near(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A name from a file, safe to show.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(80).map(|letter| if letter.is_control() { '\u{FFFD}' } else { letter }).collect()
}
