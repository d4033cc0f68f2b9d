//! The parameters of an address that are the pool's and not the server's: `pool_size`, `pool_wait`.

use std::time::Duration;

/// The settings of the connection pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolOptions {
    /// How many connections a process holds at most.
    pub(super) size: usize,
    /// The time to wait for a free connection, and for a server that restarts.
    pub(super) wait: Duration,
}

impl PoolOptions {
    /// Takes the parameters out of an address, whose other parameters stay.
    ///
    /// # Errors
    /// Says which value is wrong.
    pub(crate) fn split(address: &str) -> Result<(String, Self), String> {
        let mut options = Self {
            size: 16,
            wait: Duration::from_secs(30),
        };
        let mut left = String::new();
        let (before, parameters, separator) = match address.split_once('?') {
            Some((before, query)) => (before, query.split('&').collect(), '&'),
            None if address.contains("://") => return Ok((address.to_owned(), options)),
            None => ("", words(address), ' '),
        };
        for parameter in parameters {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name.trim() {
                "pool_size" => options.size = size(value)?,
                "pool_wait" => options.wait = duration(value)?,
                _ => {
                    if !left.is_empty() {
                        left.push(separator);
                    }
                    left.push_str(parameter);
                }
            }
        }
        let address = match (before.is_empty(), left.is_empty()) {
            (true, _) => left,
            (false, true) => before.to_owned(),
            (false, false) => format!("{before}?{left}"),
        };
        Ok((address, options))
    }
}

/// The `key=value` pairs of an address; a value in quotes may hold spaces.
fn words(address: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let parts = address.split(|c: char| {
        is_quoted ^= c == '\'';
        c.is_whitespace() && !is_quoted
    });
    parts.filter(|part| !part.is_empty()).collect()
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
mod tests {
    use super::*;

    #[test]
    fn x01_the_pools_parameters_are_taken_out_of_an_address() {
        let wait = Duration::from_millis(1_500);
        for (address, left) in [
            (
                "postgresql://a@b/c?pool_size=4&pool_wait=1500ms",
                "postgresql://a@b/c",
            ),
            (
                "postgresql://a@b/c?connect_timeout=5&pool_wait=1500ms&pool_size=4",
                "postgresql://a@b/c?connect_timeout=5",
            ),
            (
                "host=/tmp pool_size=4 user='a b' pool_wait=1500ms",
                "host=/tmp user='a b'",
            ),
        ] {
            let split = PoolOptions::split(address);
            assert_eq!(split, Ok((left.to_owned(), PoolOptions { size: 4, wait })));
        }
        for wrong in ["pool_size=0", "pool_size=x", "pool_wait=", "pool_wait=5h"] {
            let error = PoolOptions::split(&format!("postgres://h/d?{wrong}")).unwrap_err();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
