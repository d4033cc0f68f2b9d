//! The division of a model's window between the input and the answer.

use alloc::format;
use alloc::string::String;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tokens::Tokens;

/// A token budget and its shares.
///
/// The shares of the input are soft: the system part and the request are never cut and may draw on
/// the context's share, and what they leave flows to the context. The response's share is kept
/// free whatever happens.
///
/// ```
/// use kitbag_core::budget::TokenBudget;
/// use kitbag_core::tokens::Tokens;
///
/// let budget: TokenBudget =
///     serde_json::from_str(r#"{"total":16000,"input_allocation_pct":0.7}"#).unwrap();
/// assert_eq!(budget.input(), Tokens(11_200));
/// assert_eq!(budget.response(), Tokens(4_800));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BudgetJson")]
#[non_exhaustive]
pub struct TokenBudget {
    /// The whole window.
    pub total: Tokens,
    /// The input's share of it.
    pub input_allocation_pct: Share,
    /// The share of tools, base prompt and injected instructions.
    pub system_pct: Share,
    /// The share of files, memory, history and everything else that is chosen.
    pub context_pct: Share,
    /// The share of the current message.
    pub request_pct: Share,
}

impl TokenBudget {
    /// Creates a budget of `total` tokens: 10 % system, 50 % context, 10 % request, 30 % response.
    #[must_use]
    pub const fn new(total: Tokens) -> Self {
        Self {
            total,
            input_allocation_pct: Share(7_000),
            system_pct: Share(1_000),
            context_pct: Share(5_000),
            request_pct: Share(1_000),
        }
    }

    /// Sets the input's share and scales its parts with it.
    #[must_use]
    pub fn with_input_share(mut self, input: Share) -> Self {
        let before = u64::from(self.input_allocation_pct.0).max(1);
        let scaled = |share: Share| {
            let scaled = u64::from(share.0) * u64::from(input.0) / before;
            Share(u16::try_from(scaled).unwrap_or(input.0))
        };
        self.system_pct = scaled(self.system_pct);
        self.request_pct = scaled(self.request_pct);
        self.input_allocation_pct = input;
        // The context takes what rounding left, so that the shares add up.
        self.context_pct = self.left_to_context();
        self
    }

    fn left_to_context(&self) -> Share {
        let others = self.system_pct.0.saturating_add(self.request_pct.0);
        Share(self.input_allocation_pct.0.saturating_sub(others))
    }

    /// Returns the tokens that may go in.
    #[must_use]
    pub fn input(&self) -> Tokens {
        self.input_allocation_pct.of(self.total)
    }

    /// Returns the tokens that are kept free for the answer.
    #[must_use]
    pub fn response(&self) -> Tokens {
        self.total.saturating_sub(self.input())
    }

    /// The share of tools, base prompt and injected instructions.
    #[must_use]
    pub fn system(&self) -> Tokens {
        self.system_pct.of(self.total)
    }

    /// The share of the current message.
    #[must_use]
    pub fn request(&self) -> Tokens {
        self.request_pct.of(self.total)
    }

    /// The share of everything that is chosen.
    #[must_use]
    pub fn context(&self) -> Tokens {
        self.context_pct.of(self.total)
    }
}

impl Default for TokenBudget {
    /// 8,000 tokens.
    fn default() -> Self {
        Self::new(Tokens(8_000))
    }
}

/// A share, exact to a hundredth of a percent. In JSON a fraction such as `0.7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u16);

impl Share {
    /// A share of `percent` percent, at most 100.
    #[must_use]
    pub const fn percent(percent: u16) -> Self {
        Self(if percent > 100 { 10_000 } else { percent * 100 })
    }

    /// Reads `70%`, or `70.25%`.
    fn parse(text: &str) -> Option<Self> {
        let hundredths = parse_decimal(text.trim().strip_suffix('%')?, 2)?;
        let share = u16::try_from(hundredths).ok()?;
        (share <= 10_000).then_some(Self(share))
    }

    fn of(self, total: Tokens) -> Tokens {
        // At most `total`, since no share exceeds 10,000.
        let share = u64::from(total.0) * u64::from(self.0) / 10_000;
        Tokens(u32::try_from(share).unwrap_or(u32::MAX))
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 10_000.0)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fraction = f64::deserialize(deserializer)?;
        if !(0.0..=1.0).contains(&fraction) {
            return Err(serde::de::Error::custom(format!(
                "a share of {fraction}; expected a fraction from 0 to 1, such as 0.7"
            )));
        }
        // In range, so neither negative nor too large; `no_std` has no rounding.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the fraction is between 0 and 1"
        )]
        Ok(Self((fraction * 10_000.0 + 0.5) as u16))
    }
}

/// A budget as it is written in JSON; everything may be left out.
#[derive(Default, Deserialize)]
struct BudgetJson {
    total: Option<i64>,
    input_allocation_pct: Option<Share>,
    system_pct: Option<Share>,
    context_pct: Option<Share>,
    request_pct: Option<Share>,
}

impl TryFrom<BudgetJson> for TokenBudget {
    type Error = BudgetError;

    fn try_from(json: BudgetJson) -> Result<Self, BudgetError> {
        let mut budget = Self::default();
        if let Some(total) = json.total {
            let tokens = u32::try_from(total).ok().filter(|&tokens| tokens > 0);
            let value = || format!("{total}");
            budget.total = Tokens(tokens.ok_or_else(|| BudgetError::Number { value: value() })?);
        }
        if let Some(input) = json.input_allocation_pct {
            budget = budget.with_input_share(input);
        }
        budget.system_pct = json.system_pct.unwrap_or(budget.system_pct);
        budget.request_pct = json.request_pct.unwrap_or(budget.request_pct);
        // Unless it is given, the context takes what the other two leave of the input.
        budget.context_pct = json.context_pct.unwrap_or(budget.left_to_context());
        let shares = [budget.system_pct, budget.request_pct, budget.context_pct];
        let parts: u32 = shares.iter().map(|share| u32::from(share.0)).sum();
        let input = u32::from(budget.input_allocation_pct.0);
        if parts > input {
            let (parts, input) = (parts / 100, input / 100);
            return Err(BudgetError::Shares { parts, input });
        }
        Ok(budget)
    }
}

impl FromStr for Tokens {
    type Err = BudgetError;

    /// Reads a number of tokens as people write it: `800`, `32k` (32,000), `32ki` (32,768), `1.5m`.
    /// Zero is refused.
    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let lower = text.trim().to_ascii_lowercase().replace(['_', ','], "");
        let units = [
            ("ki", 1 << 10),
            ("mi", 1 << 20),
            ("k", 1_000),
            ("m", 1_000_000),
        ];
        let (digits, unit) = units
            .into_iter()
            .find_map(|(suffix, unit)| Some((lower.strip_suffix(suffix)?, unit)))
            .unwrap_or((&lower, 1));
        // Calculated in millionths, so that `1.5m` and `0.5k` are exact.
        let millionths = parse_decimal(digits, 6).and_then(|number| number.checked_mul(unit));
        let tokens = millionths.and_then(|number| u32::try_from(number / 1_000_000).ok());
        match tokens {
            Some(tokens) if tokens > 0 => Ok(Self(tokens)),
            _ => Err(BudgetError::Number { value: text.into() }),
        }
    }
}

/// Reads a decimal number of at most `places` fractional digits, in units of the last of them.
fn parse_decimal(text: &str, places: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    // Padded with zeros, the fraction and the whole are one number in the small unit.
    let digits = format!("{whole}{fraction:0<places$}");
    // `parse` alone would also accept a leading `+`.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !whole.is_empty() && fraction.len() <= places;
    digits.parse().ok().filter(|_| is_number && fits)
}

/// Reads the size of an input: a number such as `32k`, or shares of a window as [`TokenBudget`]
/// reads them, such as `total=8000,input=70%`.
///
/// # Errors
/// When it is neither.
pub fn parse_input(text: &str) -> Result<Tokens, BudgetError> {
    match text.contains('=') {
        true => text.parse().map(|budget: TokenBudget| budget.input()),
        false => text.parse(),
    }
}

impl FromStr for TokenBudget {
    type Err = BudgetError;

    /// Reads `total=8000,input=70%`; `system`, `context` and `request` may be given, too.
    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let mut json = BudgetJson::default();
        for part in text.split(',') {
            let unknown = || BudgetError::Part { part: part.into() };
            let (name, value) = part.split_once('=').ok_or_else(unknown)?;
            let share = || Share::parse(value).ok_or_else(unknown).map(Some);
            match name.trim() {
                "total" => json.total = Some(i64::from(value.parse::<Tokens>()?.0)),
                "input" => json.input_allocation_pct = share()?,
                "system" => json.system_pct = share()?,
                "context" => json.context_pct = share()?,
                "request" => json.request_pct = share()?,
                _ => return Err(unknown()),
            }
        }
        json.try_into()
    }
}

/// A budget that cannot be read, or does not add up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// Not a number of tokens.
    #[error(
        "`{value}` is not a number of tokens; expected one from 1 to 4294967295, such as 8000, 32k (32,000) or 32ki (32,768)"
    )]
    Number {
        /// The rejected value.
        value: String,
    },
    /// An unknown part of a budget.
    #[error(
        "`{part}` is not a part of a budget; expected `total=8000`, or one of input, system, context and request as `input=70%`"
    )]
    Part {
        /// The rejected part.
        part: String,
    },
    /// Parts that exceed the input.
    #[error(
        "system, context and request take {parts} % of the budget, but the input only has {input} %"
    )]
    Shares {
        /// The sum of the parts, in percent.
        parts: u32,
        /// The input's share, in percent.
        input: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn p02_default_is_8000_as_10_50_10_30_percent() {
        let budget = TokenBudget::default();
        let parts = [
            budget.system(),
            budget.context(),
            budget.request(),
            budget.response(),
        ];
        assert_eq!(
            parts,
            [Tokens(800), Tokens(4_000), Tokens(800), Tokens(2_400)]
        );
    }

    #[test]
    fn p02_each_share_can_be_overridden() {
        let budget: TokenBudget =
            serde_json::from_str(r#"{"total":10000,"input_allocation_pct":0.8,"system_pct":0.2}"#)
                .unwrap();
        assert_eq!(budget.system(), Tokens(2_000));
        assert_eq!(budget.response(), Tokens(2_000));
        assert_eq!(budget.input(), Tokens(8_000));
        assert_eq!(
            budget.system().0 + budget.context().0 + budget.request().0,
            8_000
        );
    }

    #[test]
    fn p02_json_round_trip() {
        let budget = TokenBudget::new(Tokens(16_000)).with_input_share(Share::percent(75));
        let json = serde_json::to_string(&budget).unwrap();
        assert!(json.contains(r#""input_allocation_pct":0.75"#), "{json}");
        assert_eq!(serde_json::from_str::<TokenBudget>(&json).unwrap(), budget);
    }

    #[test]
    fn p02_bad_budgets_are_refused_by_value() {
        for (json, named) in [
            (r#"{"total":-5}"#, "-5"),
            (r#"{"total":0}"#, "0"),
            (r#"{"total":99999999999}"#, "99999999999"),
            (r#"{"input_allocation_pct":1.7}"#, "1.7"),
            (r#"{"system_pct":0.6,"context_pct":0.6}"#, "130 %"),
        ] {
            let error = serde_json::from_str::<TokenBudget>(json)
                .unwrap_err()
                .to_string();
            assert!(error.contains(named), "{json}: {error}");
        }
    }

    #[test]
    fn p02_numbers_of_tokens_as_people_write_them() {
        for (text, tokens) in [
            ("800", 800),
            ("32k", 32_000),
            ("32ki", 32_768),
            ("32K", 32_000),
            ("1.5k", 1_500),
            ("1m", 1_000_000),
            ("32_000", 32_000),
            (" 8,000 ", 8_000),
        ] {
            assert_eq!(text.parse(), Ok(Tokens(tokens)), "{text}");
        }
        for text in [
            "",
            "0",
            "-1",
            "k",
            "1e3",
            "99999999999",
            "3.1.4k",
            "x",
            "1.k2",
            "５",
        ] {
            assert!(text.parse::<Tokens>().is_err(), "{text}");
        }
    }

    #[test]
    fn p02_shares_of_a_window_as_people_write_them() {
        assert_eq!(parse_input("32k"), Ok(Tokens(32_000)));
        assert_eq!(parse_input("total=16k,input=70%"), Ok(Tokens(11_200)));
        assert_eq!(parse_input("input=62.5%"), Ok(Tokens(5_000)));
        let budget: TokenBudget = "total=10000, input=80%,system=20%".parse().unwrap();
        assert_eq!(budget.system(), Tokens(2_000));
        assert_eq!(budget.response(), Tokens(2_000));
        for (text, named) in [
            ("total=", "``"),
            ("input=70", "`input=70`"),
            ("input=170%", "`input=170%`"),
            ("output=5%", "`output=5%`"),
            ("input=50%,context=60%", "only has 50 %"),
        ] {
            let error = parse_input(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn p02_shares_never_exceed_the_total(total in 1u32.., input in 0u16..=100) {
            let budget = TokenBudget::new(Tokens(total)).with_input_share(Share::percent(input));
            let parts = u64::from(budget.system().0) + u64::from(budget.context().0) + u64::from(budget.request().0);
            prop_assert!(parts <= u64::from(budget.input().0));
            prop_assert_eq!(budget.input().0 + budget.response().0, total);
        }

        #[test]
        fn p02_parsing_never_panics(text in any::<String>()) {
            let _ = text.parse::<Tokens>();
        }
    }
}
