//! The time of a message.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde::{Deserialize, Serialize};

/// The time when something was said, as it was written: with a zone or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageTime {
    at: Timestamp,
    /// The zone's distance from UTC. None for a local time, which is kept as if it were
    /// UTC.
    offset: Option<Offset>,
}

impl MessageTime {
    /// Parses `2024-05-08T13:56:00` with or without a zone, or a date alone.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(zoned) = jiff::fmt::temporal::DateTimeParser::new().parse_timestamp(text) {
            let pieces = jiff::fmt::temporal::Pieces::parse(text).ok()?;
            // `Z` is a zone without a numeric offset.
            let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
            return Some(Self::in_zone(zoned, offset));
        }
        let local: DateTime = text
            .parse()
            .or_else(|_| text.parse::<jiff::civil::Date>().map(Into::into))
            .ok()?;
        Some(Self::local(local.to_zoned(TimeZone::UTC).ok()?.timestamp()))
    }

    /// A local time, given as if it were UTC.
    pub(crate) fn local(at: Timestamp) -> Self {
        Self {
            at: whole_microseconds(at),
            offset: None,
        }
    }

    fn in_zone(at: Timestamp, offset: Offset) -> Self {
        Self {
            at: whole_microseconds(at),
            offset: Some(offset),
        }
    }

    /// The moment. A local time counts as UTC.
    #[must_use]
    pub fn timestamp(self) -> Timestamp {
        self.at
    }

    /// The date and time that the speaker's clock showed.
    #[must_use]
    pub fn wall_clock(self) -> DateTime {
        self.offset.unwrap_or(Offset::UTC).to_datetime(self.at)
    }

    pub(crate) fn to_columns(self) -> (i64, Option<i64>) {
        (
            self.at.as_microsecond(),
            self.offset.map(|offset| offset.seconds().into()),
        )
    }

    pub(crate) fn from_columns(at: Option<i64>, offset: Option<i64>) -> Option<Self> {
        Some(Self {
            at: Timestamp::from_microsecond(at?).ok()?,
            offset: offset.and_then(zone),
        })
    }
}

/// A stored zone. One that no zone can have leaves the time local, so that the message can still be read.
fn zone(seconds: i64) -> Option<Offset> {
    Offset::from_seconds(i32::try_from(seconds).ok()?).ok()
}

impl From<Timestamp> for MessageTime {
    fn from(at: Timestamp) -> Self {
        Self::in_zone(at, Offset::UTC)
    }
}

impl std::fmt::Display for MessageTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.offset {
            None => write!(f, "{}", self.wall_clock()),
            Some(offset) if offset == Offset::UTC => write!(f, "{}", self.at),
            Some(offset) => write!(f, "{}", self.at.display_with_offset(offset)),
        }
    }
}

impl TryFrom<String> for MessageTime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
            .ok_or_else(|| format!("`{text}` is not a time such as 2024-05-08T13:56:00"))
    }
}

impl From<MessageTime> for String {
    fn from(time: MessageTime) -> Self {
        time.to_string()
    }
}

/// Cuts a time to the precision that the databases keep, so that it compares equal after a round
/// trip.
fn whole_microseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_they_were_read() {
        for text in [
            "2024-05-08T13:56:00",
            "2024-05-08T13:56:00Z",
            "2024-05-08T13:56:00+02:00",
            "2024-05-08T13:56:00.000125",
        ] {
            assert_eq!(MessageTime::parse(text).unwrap().to_string(), text);
        }
        let day = MessageTime::parse("2024-05-08").unwrap();
        assert_eq!(day.to_string(), "2024-05-08T00:00:00");
        assert_eq!(MessageTime::parse("yesterday"), None);
    }
}
