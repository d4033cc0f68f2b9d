//! Means and medians of what was measured.

/// The mean; 0 of nothing.
pub(crate) fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = figures.fold((0.0, 0.0), |(sum, count), figure| {
        (sum + figure, count + 1.0)
    });
    if count == 0.0 { 0.0 } else { sum / count }
}

/// The middle one, if there is any.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}
