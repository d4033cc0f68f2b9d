//! The two switches of older projects, read from the environment.

use kitbag_layout::prompt::LegacyAppend;

/// The two switches of older projects, under their names and ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// `KITBAG_APPEND_LEGACY`, `CREWX_APPEND_LEGACY`: prompts end in specialties, capabilities and
    /// the working folder.
    pub(super) append: LegacyAppend,
    /// `KITBAG_LAYOUT_TELEMETRY`, `CREWX_WBS14_TELEMETRY`: the log says which layout an agent got.
    pub(super) telemetry: Telemetry,
}

/// Whether the log says which layout an agent got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Telemetry {
    /// It does not.
    #[default]
    Off,
    /// It does, at debug level.
    On,
}

impl Flags {
    /// Reads the flags; only the value `true` switches one on.
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_on = |names: [&str; 2]| {
            let value = names.iter().find_map(|name| variable(name));
            value.as_deref() == Some("true")
        };
        Self {
            append: match is_on(["KITBAG_APPEND_LEGACY", "CREWX_APPEND_LEGACY"]) {
                true => LegacyAppend::On,
                false => LegacyAppend::Off,
            },
            telemetry: match is_on(["KITBAG_LAYOUT_TELEMETRY", "CREWX_WBS14_TELEMETRY"]) {
                true => Telemetry::On,
                false => Telemetry::Off,
            },
        }
    }
}
