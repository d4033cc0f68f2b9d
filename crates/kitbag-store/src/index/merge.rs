//! Merging blocks, so that there are few: each word is looked up in every block.
//!
//! Sizes are told apart by powers of eight. As soon as eight blocks at the end are no larger than the
//! newest, they become one. So a word is written again once for each power, and a scope has at most
//! seven blocks of each size, and as many large ones as it needs.

use super::block::{Block, read, remove, write_next};
use super::words::Words;
use crate::error::Result;
use crate::scope::Scope;
use crate::transaction::Tx;

/// So many blocks of a size become one of the next.
const FAN: u32 = 8;
/// Blocks of so many messages are large enough: merging them would keep a writer waiting.
const LARGE: u32 = 32_768;
/// No block has more messages.
const LARGEST: u32 = 4 * LARGE;

/// Merges the newest blocks as far as there are too many, now that messages came after the one with
/// the number `before`. The caller saves the scope.
pub(super) async fn merge(tx: &mut Tx<'_>, scope: &mut Scope, before: u32) -> Result<()> {
    // Fewer than eight messages came, mostly: nothing has to be read.
    if before / FAN == scope.arrivals / FAN {
        return Ok(());
    }
    let sql = "SELECT id, first, last FROM block WHERE tenant = $1 AND scope = $2 \
               ORDER BY id DESC LIMIT 64";
    let mut newest = tx.query::<Block>(sql, scope.id).await?;
    newest.truncate(too_many(&newest));
    let (Some(first), Some(last)) = (newest.last(), newest.first()) else {
        return Ok(());
    };
    let (first, last) = (first.first, last.last);
    let mut words = Words::default();
    for block in newest.iter().rev() {
        read(tx, scope.id, block.id, &mut words).await?;
        remove(tx, scope.id, block.id).await?;
    }
    write_next(tx, scope, first, last, words).await
}

/// Returns how many of the newest blocks become one, given from the newest to the oldest.
fn too_many(newest: &[Block]) -> usize {
    let mut blocks = newest.iter().map(Block::size).peekable();
    let Some(mut size) = blocks.next() else {
        return 0;
    };
    let mut merged = 1;
    loop {
        // What was merged counts as one block.
        let (mut count, mut total) = (1, size);
        let power = power(size);
        while let Some(more) = blocks.next_if(|more| {
            self::power(*more) <= power && *more < LARGE && total.saturating_add(*more) <= LARGEST
        }) {
            (count, total) = (count + 1, total + more);
        }
        if count < FAN {
            return if merged == 1 { 0 } else { merged };
        }
        merged += count as usize - 1;
        size = total;
    }
}

/// The power of [`FAN`] that a number of messages reaches.
fn power(messages: u32) -> u32 {
    messages.max(1).ilog(FAN)
}

impl Block {
    fn size(&self) -> u32 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As a scope grows by batches of any size.
        #[test]
        fn there_are_few_blocks_and_none_is_too_large(batches in prop::collection::vec(
            prop_oneof![Just(1_u32), 1_u32..20, 1_u32..9_000], 1..400,
        )) {
            let mut blocks: Vec<Block> = Vec::new();
            let mut arrivals = 0;
            let mut written = 0;
            for (id, size) in (1..).zip(&batches) {
                blocks.insert(0, Block { id, first: arrivals + 1, last: arrivals + size });
                arrivals += size;
                let merged = too_many(&blocks);
                if merged > 0 {
                    let first = blocks[merged - 1].first;
                    blocks.drain(..merged);
                    blocks.insert(0, Block { id, first, last: arrivals });
                    written += arrivals - first + 1;
                }
            }
            let small = blocks.iter().filter(|block| block.size() < LARGE / FAN);
            prop_assert!(small.count() < 4 * FAN as usize);
            prop_assert!(blocks.iter().all(|block| block.size() <= LARGEST));
            prop_assert!(blocks.windows(2).all(|two| two[1].last + 1 == two[0].first));
            prop_assert!(written <= 5 * arrivals);
        }
    }
}
