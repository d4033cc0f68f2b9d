//! Token counts without a vocabulary.

use kitbag_core::tokens::{Exactness, TokenCounter, Tokens};

/// Counts a token for every three bytes, which is more than prose, code and most scripts have.
///
/// Loading a vocabulary takes ten times as long as all else that a hook does, and the models that
/// hooks mostly serve publish none. A budget that is kept by this count is kept by theirs.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByteEstimate;

const BYTES_PER_TOKEN: usize = 3;

impl TokenCounter for ByteEstimate {
    fn name(&self) -> &'static str {
        "bytes"
    }

    fn count(&self, text: &str) -> Tokens {
        let tokens = text.len().div_ceil(BYTES_PER_TOKEN);
        Tokens(u32::try_from(tokens).unwrap_or(u32::MAX))
    }

    fn exactness(&self) -> Exactness {
        Exactness::Estimated {
            base: "bytes".into(),
            // The base is the number of bytes, and a token is three of them.
            factor_permille: 333,
            error_permille: 300,
            answers: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Counter;

    #[test]
    fn x11_three_bytes_a_token_are_no_less_than_a_vocabulary_counts() {
        let exact = Counter::for_model("gpt-4o").unwrap();
        let code = include_str!("../hook.rs");
        let prose = include_str!("../../../../README.md");
        let others =
            "我们用 fly.io 部署，从不使用 heroku。Мы деплоим на fly.io. 私たちは毎日テストします。";
        for text in [code, prose, others] {
            assert!(ByteEstimate.count(text) >= exact.count(text), "{text}");
        }
    }
}
