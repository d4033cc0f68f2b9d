//! The two switches of older projects, read from the environment under our names and theirs.

/// Prompts end in specialties, capabilities and the working folder.
pub(super) const APPEND: [&str; 2] = ["KITBAG_APPEND_LEGACY", "CREWX_APPEND_LEGACY"];

/// The log says at debug level which layout an agent got.
pub(super) const TELEMETRY: [&str; 2] = ["KITBAG_LAYOUT_TELEMETRY", "CREWX_WBS14_TELEMETRY"];

/// Tells whether a switch is on; only the value `true` switches it on.
pub(super) fn is_on(names: [&str; 2], variable: impl Fn(&str) -> Option<String>) -> bool {
    let value = names.into_iter().find_map(variable);
    value.as_deref() == Some("true")
}
