//! Rebuilds a past prompt, and checks that it is the one that was sent. The JSON of requests is
//! made above the store, which then makes the last comparison.

use jiff::Timestamp;
use kitbag_core::assembly::{AssemblySettings, Block, Breakpoint, Draft, Kept, Ledger};
use kitbag_core::tokens::Tokens;

use super::RequestField;
use super::recipe::{Bodies, Hash, Recipe};
use crate::error::{Result, StoreError};
use crate::id::TurnId;
use crate::store::Store;
use crate::transaction::{Tx, placeholders};
use crate::turn::StoredTurn;
use crate::value::{Row, Value};

/// A rebuilt prompt: a text byte for byte as it was sent, or a request as its blocks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// The turn.
    pub turn: TurnId,
    /// Its number among the prompts of the turn, from 0.
    pub inference: u32,
    /// The time when it was sent.
    pub sent: Timestamp,
    /// The text, if its form is one.
    pub body: String,
    /// The blocks, for any other form.
    pub blocks: Vec<Block>,
    /// The fields of the sent request, if it differs from what the prompt makes.
    pub fields: Option<Vec<RequestField>>,
    /// The ends of cached prefixes.
    pub breakpoints: Vec<Breakpoint>,
    /// The draft.
    pub draft: Draft,
    /// The chunks in it.
    pub kept: Vec<Kept>,
    /// The settings that it was assembled with.
    pub settings: AssemblySettings,
    /// The BLAKE3 hash of what was sent, in hexadecimal digits. With masked secrets, that of what
    /// was archived: the text without them, or the blocks of a request.
    pub hash: String,
    /// The number of secrets that were sent and are masked here.
    pub masked: usize,
    /// Its tokens as counted when it was sent.
    pub tokens: Tokens,
    /// The tokenizer that counted them.
    pub tokenizer: String,
    /// The reasons for its selection.
    pub ledger: Ledger,
}

impl Replayed {
    /// Compares the sent bytes with the rebuilt ones. For a request with masked secrets only the
    /// blocks can be compared, which was done already.
    ///
    /// # Errors
    /// [`StoreError::Replay`] when they differ.
    pub fn check(&self, body: &str) -> Result<()> {
        let is_compared = self.masked > 0 && !self.settings.form.is_text();
        if is_compared || Hash::of(body).to_hex() == self.hash {
            return Ok(());
        }
        Err(StoreError::Replay {
            turn: self.turn.to_string(),
            reason: DIFFERS.to_owned(),
        })
    }
}

const DIFFERS: &str = "it comes out differently from what was sent";

impl Store {
    /// Rebuilds a prompt of a turn, the last one unless another is given, from the archived texts
    /// and choices, and compares it with what was sent; for a request its blocks.
    ///
    /// # Errors
    /// [`StoreError::Replay`] when a text was forgotten, removed or altered, or when the result
    /// differs.
    pub async fn replay(&self, turn: TurnId, inference: Option<u32>) -> Result<Replayed> {
        self.read(async move |tx| replay(tx, turn, inference).await)
            .await
    }
}

async fn replay(tx: &mut Tx<'_>, turn: TurnId, inference: Option<u32>) -> Result<Replayed> {
    let refuse = |reason: String| StoreError::Replay {
        turn: turn.to_string(),
        reason,
    };
    let known = StoredTurn::get(tx, turn).await?;
    let last = known.inferences.checked_sub(1);
    let Some(inference) = inference.or(last) else {
        return Err(refuse("none was sent".to_owned()));
    };
    let sql = "SELECT sent, hash, tokens, forgotten, recipe FROM prompt WHERE tenant = $1 \
               AND scope = $2 AND conversation = $3 AND turn = $4 AND inference = $5";
    let Some(mut row) = tx.query_one::<Row>(sql, (turn, inference)).await? else {
        let reason = match inference < known.inferences {
            true => format!("inference {inference} was removed from the archive"),
            false => format!("inference {inference} was never sent"),
        };
        return Err(refuse(reason));
    };
    let (sent, hash, tokens): (_, Hash, _) = row.read()?;
    let forgotten: Option<String> = row.read()?;
    if let Some(forgotten) = forgotten {
        return Err(refuse(format!("{forgotten} was forgotten")));
    }
    let recipe: Recipe = serde_json::from_str(&row.read::<String>()?)
        .map_err(|error| refuse(format!("its recipe is not readable: {error}")))?;
    let texts = texts(tx, &recipe).await?;
    let mut draft = recipe.draft(&texts).map_err(refuse)?;
    let kept = recipe.kept(&texts).map_err(refuse)?;
    let fields = recipe.fields(&texts).map_err(refuse)?;
    let rendered = recipe.render(&mut draft, &kept);
    let is_same = match recipe.settings.form.is_text() {
        true => Hash::of(&rendered.body) == hash,
        false => match recipe.blocks {
            Some(blocks) => blocks == Hash::of_blocks(&rendered.blocks)?,
            // Recipes from before this field have no hash of their blocks: the caller's comparison
            // must do.
            None => true,
        },
    };
    if !is_same {
        return Err(refuse(DIFFERS.to_owned()));
    }
    Ok(Replayed {
        turn,
        inference,
        sent,
        body: rendered.body,
        blocks: rendered.blocks,
        fields,
        breakpoints: recipe.breakpoints,
        draft,
        kept,
        hash: hash.to_hex(),
        masked: recipe.masked,
        settings: recipe.settings,
        tokens: Tokens(tokens),
        tokenizer: recipe.tokenizer,
        ledger: recipe.ledger,
    })
}

async fn texts(tx: &mut Tx<'_>, recipe: &Recipe) -> Result<Bodies> {
    let hashes: Vec<Value> = recipe.hashes().into_iter().map(Value::from).collect();
    let mut texts = Bodies::new();
    // SQLite takes 32,766 parameters and PostgreSQL 65,535; 500 keep the statement short.
    for some in hashes.chunks(500) {
        let sql = format!(
            "SELECT hash, body FROM text WHERE tenant = $1 AND hash IN ({})",
            placeholders(2, some.len())
        );
        texts.extend(tx.query::<(Hash, String)>(&sql, some.to_vec()).await?);
    }
    Ok(texts)
}
