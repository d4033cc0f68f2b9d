//! Messages as a person reads them.

use kitbag_core::neutral::one_line;
use kitbag_core::role::Role;
use kitbag_store::MessageTime;

/// Adds a message: when and by whom it was said, its name and what else is to be told, and its text.
pub fn add(text: &mut String, at: Option<MessageTime>, speaker: &str, note: &str, said: &str) {
    let at = at.map_or_else(|| "undated".to_owned(), minutes);
    text.push_str(&format!("{at} {speaker} ({note})\n"));
    for line in said.trim().lines() {
        text.push_str("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// The name of who spoke, or else the role.
#[must_use]
pub fn speaker(name: Option<&str>, role: Role) -> String {
    name.map_or_else(|| role.to_string(), |name| one_line(name).into_owned())
}

/// A time as the speaker's clock showed it.
#[must_use]
pub fn minutes(at: MessageTime) -> String {
    at.wall_clock().strftime("%Y-%m-%d %H:%M").to_string()
}

/// The same with its date and zone, if it has one, as machines write it.
#[must_use]
pub fn seconds(at: MessageTime) -> String {
    let at = at.to_string();
    match at.split_once('.') {
        // Behind the fraction comes the zone.
        Some((whole, rest)) => {
            let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{whole}{zone}")
        }
        None => at,
    }
}
