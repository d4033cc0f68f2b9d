//! All facts about one model, one a line.

use kitbag::core::calibration::Calibration;
use kitbag::provider::ProviderSummary;
use kitbag::tokens::{ModelProfile, PriceStep};

use super::tables::{amount, key_state};
use crate::output::{counted, grouped, one_line};

/// The width of the labels.
const LABEL: usize = 10;
const WIDTH: usize = 100;

pub(super) fn of(
    asked: &str,
    model: &ModelProfile,
    providers: &[ProviderSummary],
    bills: Option<&Calibration>,
) -> String {
    let mut lines = Lines(vec![one_line(asked)]);
    // A name that only resembles a known model gets the profile of its family, and must not look exact.
    let is_family = !ModelProfile::models().contains(model);
    if is_family {
        lines.add(
            "known as",
            &format!("one of {}…", model.prefixes.join("…, ")),
        );
    } else if model.name() != asked {
        lines.add("known as", &model.name());
    }
    if let Some(name) = &model.provider {
        let served = providers.iter().find(|provider| provider.name == *name);
        let key = served.and_then(|provider| provider.key.as_ref());
        let key = key.map(|key| format!(", {}", key_state(key, 60)));
        lines.add("provider", &format!("{name}{}", key.unwrap_or_default()));
    }
    if let Some(window) = model.window {
        lines.add("window", &format!("{} tokens", grouped(window)));
    }
    if let Some(most) = model.max_output {
        lines.add("answer", &format!("at most {} tokens", grouped(most)));
    }
    // What `ask` and `pack` would use, which may be less than the window because of a price step.
    let budget = ModelProfile::default_budget(Some(model));
    let budget = grouped(budget.0);
    lines.add(
        "budget",
        &format!("{budget} tokens of a prompt, unless one is given"),
    );
    lines.add_prices(model);
    lines.add_cache(model);
    lines.add("counting", &counting(model, bills));
    for source in &model.sources {
        lines.add("source", source);
    }
    if let Some(note) = &model.note {
        lines.add("note", note);
    }
    lines.0.join("\n")
}

/// The way in which tokens are counted, with the comparison to bills.
fn counting(model: &ModelProfile, bills: Option<&Calibration>) -> String {
    let name = &model.tokenizer;
    // Bills for counts with another vocabulary say nothing about this one.
    let bills = bills.filter(|bills| bills.tokenizer == *name);
    let Some(usual) = &model.estimate else {
        let exact = format!("exact, with {name}");
        let billed = bills.and_then(|bills| Some((bills.lasting_difference()?, bills.answers)));
        return match billed {
            None => exact,
            Some((permille, answers)) => {
                let (times, answers) = (thousandths(permille), answers_of(answers));
                format!("{exact}; {times} times as many were billed, over {answers}")
            }
        };
    };
    match bills.filter(|bills| bills.is_usable()) {
        None => format!(
            "an estimate, {name} × {} ± {} %; {}",
            thousandths(usual.factor_permille),
            usual.error_permille / 10,
            usual.source
        ),
        Some(bills) => format!(
            "an estimate, {name} × {} ± {} %, from {}; × {} before any answer",
            thousandths(bills.factor_permille),
            bills.error_permille(usual.error_permille) / 10,
            answers_of(bills.answers),
            thousandths(usual.factor_permille),
        ),
    }
}

fn answers_of(count: u32) -> String {
    counted(count.into(), "answer", "answers")
}

struct Lines(Vec<String>);

impl Lines {
    /// Adds a label with its text, wrapped at the width and indented.
    fn add(&mut self, label: &str, text: &str) {
        let mut line = format!("{label:<LABEL$}");
        let mut is_empty = true;
        for word in text.split_whitespace() {
            if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                self.0.push(std::mem::replace(&mut line, " ".repeat(LABEL)));
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.0.push(line);
    }

    fn add_prices(&mut self, model: &ModelProfile) {
        let Some(price) = &model.price else {
            return self.add("price", "not known");
        };
        let parts = [
            (Some(price.input), "in"),
            (price.output, "out"),
            (price.cache_read, "read from the cache"),
            (price.cache_write, "written to it"),
        ];
        let part = |(price, what): (Option<u64>, &str)| Some(format!("${} {what}", amount(price?)));
        let parts: Vec<String> = parts.into_iter().filter_map(part).collect();
        self.add(
            "price",
            &format!("{} for a million tokens", parts.join(", ")),
        );
        for PriceStep {
            above,
            input_permille,
            output_permille,
        } in &price.steps
        {
            let (input, output) = (thousandths(*input_permille), thousandths(*output_permille));
            let above = grouped(*above);
            self.add(
                "step",
                &format!("above {above} tokens in, × {input} in and × {output} out"),
            );
        }
    }

    fn add_cache(&mut self, model: &ModelProfile) {
        let Some(cache) = &model.cache else {
            return;
        };
        let least = grouped(cache.min_tokens.0);
        let least = match model.is_cache_min_assumed {
            true => format!("from a length that is not known ({least} tokens are assumed)"),
            false => format!("from {least} tokens"),
        };
        let marks = match cache.max_breakpoints {
            // A provider without marks decides alone what it caches.
            0 => "by itself".to_owned(),
            most => format!("at up to {most} marks"),
        };
        let life = cache
            .life_seconds
            .map(|life| format!(", for {} minutes", life / 60));
        let life = life.unwrap_or_default();
        self.add("cache", &format!("{least}, {marks}{life}"));
    }
}

fn thousandths(permille: u32) -> String {
    let text = format!("{}.{:03}", permille / 1_000, permille % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
