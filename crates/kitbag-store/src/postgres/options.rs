//! The parameters of an address that belong to us and not to the driver: those of the pool, of
//! prepared statements, and of TLS.

use std::time::Duration;

use super::connection::Statements;
use super::parameters::take_parameters;
use super::tls::TlsOptions;

/// The settings of the connections to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AddressOptions {
    /// The most connections that a process holds.
    pub(super) size: usize,
    /// The time to wait for a free connection or a restarting server.
    pub(super) wait: Duration,
    pub(super) statements: Statements,
    pub(super) tls: TlsOptions,
}

impl AddressOptions {
    /// Takes our parameters out of an address and leaves the others.
    ///
    /// # Errors
    /// The message names the value that is wrong.
    pub(crate) fn split(address: &str) -> Result<(String, Self), String> {
        let mut options = Self {
            size: 16,
            wait: Duration::from_secs(30),
            statements: Statements::Automatic,
            tls: TlsOptions::default(),
        };
        let left = take_parameters(address, |name, value| {
            match name {
                "pool_size" => options.size = size(value)?,
                "pool_wait" => options.wait = duration(value)?,
                "prepared" => options.statements = statements(value)?,
                _ => return options.tls.take(name, value),
            }
            Ok(true)
        })?;
        options.tls.check()?;
        Ok((left, options))
    }
}

fn statements(value: &str) -> Result<Statements, String> {
    match value {
        "on" => Ok(Statements::Prepared),
        "off" => Ok(Statements::Unnamed),
        "auto" => Ok(Statements::Automatic),
        _ => Err(format!("`prepared={value}` is none of auto, on and off")),
    }
}

fn size(value: &str) -> Result<usize, String> {
    let size = value.parse().ok().filter(|size| (1..=1_000).contains(size));
    size.ok_or_else(|| {
        format!("`pool_size={value}` is not a number of connections between 1 and 1000")
    })
}

/// Seconds, or a number with `ms`, `s` or `m`.
fn duration(value: &str) -> Result<Duration, String> {
    let end = value.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = value
        .split_at_checked(end.unwrap_or(value.len()))
        .unwrap_or_default();
    let milliseconds = match unit {
        "ms" => Some(1),
        "" | "s" => Some(1_000),
        "m" => Some(60_000),
        _ => None,
    };
    let number = digits.parse::<u32>().ok();
    let time = number.zip(milliseconds);
    let time = time.map(|(number, unit)| Duration::from_millis(u64::from(number) * unit));
    time.ok_or_else(|| format!("`pool_wait={value}` is not a time such as 10s, 500ms or 2m"))
}

#[cfg(test)]
mod tests;
