//! Checks and analyses the messages of an import, on all cores.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kitbag_core::recall::Analyser;
use rayon::prelude::*;

use super::Import;
use crate::append::Analysed;
use crate::error::Result;
use crate::fact::NewFact;
use crate::secrets::Secrets;

/// Messages that are checked and analysed. That takes most of the time of an import and needs no
/// store, so one batch can be made while another is written, as [`ImportBatches`] does.
///
/// [`ImportBatches`]: super::ImportBatches
#[derive(Clone)]
pub struct ImportBatch {
    pub(super) scopes: BTreeMap<(String, String), Vec<Line>>,
    pub(super) restores: bool,
    nameless: usize,
}

/// A message of a scope with its facts and summary.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) conversation: Option<String>,
    pub(super) title: Option<String>,
    pub(super) message: Analysed,
    pub(super) facts: Vec<NewFact>,
    pub(super) summary: Option<String>,
}

impl ImportBatch {
    /// Checks and analyses messages, whose secrets are masked.
    ///
    /// # Errors
    /// When one of them is invalid.
    pub fn new(messages: Vec<Import>) -> Result<Self> {
        Self::with_secrets(messages, Secrets::Mask)
    }

    /// Checks and analyses messages, with secrets masked or kept.
    ///
    /// # Errors
    /// When one of them is invalid.
    pub fn with_secrets(messages: Vec<Import>, secrets: Secrets) -> Result<Self> {
        Self::analysed(messages, secrets, &Analysers::default())
    }

    /// Does the same with analysers that the next batch uses again.
    pub(super) fn analysed(
        messages: Vec<Import>,
        secrets: Secrets,
        analysers: &Analysers,
    ) -> Result<Self> {
        let is_nameless = |import: &&Import| import.message.reference.is_none();
        let nameless = messages.iter().filter(is_nameless).count();
        let analyse = |some: Vec<Import>| analysers.lend(|one| analyse(some, secrets, one));
        let pieces: Vec<Result<Pieces>> = match messages.len() {
            // Handing a few messages to another thread would take longer than they do.
            0..=PIECE => vec![analyse(messages)],
            _ => pieces(messages).into_par_iter().map(analyse).collect(),
        };
        let mut scopes: BTreeMap<(String, String), Vec<Line>> = BTreeMap::new();
        // In the order of the messages, whatever the threads: so the error is that of the first bad
        // one.
        for piece in pieces {
            for (scope, line) in piece? {
                scopes.entry(scope).or_default().push(line);
            }
        }
        Ok(Self {
            scopes,
            restores: false,
            nameless,
        })
    }

    /// Lets forgotten messages of this batch come back.
    #[must_use]
    pub fn restoring_forgotten(mut self) -> Self {
        self.restores = true;
        self
    }

    /// Returns the number of senders, each counted once for each channel.
    #[must_use]
    pub fn senders(&self) -> usize {
        self.scopes.len()
    }

    /// Returns the number of messages without a reference, which would be kept again by another
    /// import.
    #[must_use]
    pub fn without_reference(&self) -> usize {
        self.nameless
    }
}

/// The messages that one thread analyses at once. Fewer cost more in handing them out, and more
/// leave a thread without work at the end of a batch.
const PIECE: usize = 512;

type Pieces = Vec<((String, String), Line)>;

fn pieces(messages: Vec<Import>) -> Vec<Vec<Import>> {
    let mut pieces = Vec::with_capacity(messages.len().div_ceil(PIECE));
    let mut messages = messages.into_iter();
    while messages.len() > 0 {
        pieces.push(messages.by_ref().take(PIECE).collect());
    }
    pieces
}

fn analyse(messages: Vec<Import>, secrets: Secrets, analyser: &mut Analyser) -> Result<Pieces> {
    let analyse = |import: Import| {
        import.check()?;
        let line = Line {
            conversation: import.conversation.map(|name| secrets.masked_name(name)),
            title: import.title.map(|title| secrets.masked(title)),
            // Always with its statements: the store decides later if it keeps them as facts.
            message: Analysed::new(import.message, secrets, |text| analyser.analyse(text))?
                .with_statements(),
            facts: secrets.masked_facts(import.facts),
            summary: import.summary.map(|summary| secrets.masked(summary)),
        };
        Ok(((import.channel, import.sender), line))
    };
    messages.into_iter().map(analyse).collect()
}

/// Analysers that threads borrow: each remembers the stems of the words it has met.
#[derive(Default)]
pub(super) struct Analysers(Mutex<Vec<Analyser>>);

impl Analysers {
    fn lend<T>(&self, work: impl FnOnce(&mut Analyser) -> T) -> T {
        // A poisoned lock is harmless: nothing panics while it is held.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = lock().pop();
        let mut analyser = lent.unwrap_or_default();
        let result = work(&mut analyser);
        lock().push(analyser);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::NewMessage;

    fn said(text: &str) -> Import {
        Import::new("cli", "ann", None, NewMessage::from(text))
    }

    #[test]
    fn messages_keep_their_order_and_the_first_bad_one_is_the_error() {
        let texts: Vec<String> = (0..3 * PIECE).map(|number| format!("m{number}")).collect();
        let batch = ImportBatch::new(texts.iter().map(|text| said(text)).collect()).unwrap();
        let lines = batch.scopes.into_values().flatten();
        let found: Vec<String> = lines
            .map(|line| line.message.marked().text.into_owned())
            .collect();
        assert_eq!(found, texts);

        let mut messages: Vec<Import> = texts.iter().map(|text| said(text)).collect();
        messages[PIECE + 1].sender = " ".to_owned();
        messages[2 * PIECE + 1].channel = String::new();
        let error = ImportBatch::new(messages).err().unwrap();
        assert!(error.to_string().contains("the sender"), "{error}");
    }
}
