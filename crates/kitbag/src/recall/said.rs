//! Messages as a person reads them.

use kitbag_core::neutral::one_line;
use kitbag_core::role::Role;
use kitbag_store::MessageTime;

/// Adds a message: its time, its speaker, a note with its name, and its text.
pub fn add(text: &mut String, at: Option<MessageTime>, speaker: &str, note: &str, said: &str) {
    let at = at.map_or_else(|| "undated".to_owned(), minutes);
    text.push_str(&format!("{at} {speaker} ({note})\n"));
    for line in said.trim().lines() {
        text.push_str("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// The name of the speaker, or else the role.
#[must_use]
pub fn speaker(name: Option<&str>, role: Role) -> String {
    name.map_or_else(|| role.to_string(), |name| one_line(name).into_owned())
}

/// A time as the speaker's clock showed it, to the minute.
#[must_use]
pub fn minutes(at: MessageTime) -> String {
    at.wall_clock().strftime("%Y-%m-%d %H:%M").to_string()
}

/// A time to the second with its zone, if it has one, for programs.
#[must_use]
pub fn seconds(at: MessageTime) -> String {
    let at = at.to_string();
    match at.split_once('.') {
        // The zone follows the fraction of the second.
        Some((whole, rest)) => {
            let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{whole}{zone}")
        }
        None => at,
    }
}
