//! Merges blocks to keep their number small, since each word is looked up in every block.
//!
//! The sizes of blocks are grouped by powers of eight. As soon as the last eight blocks are no
//! larger than the newest one, they become one. So a word is written again once for each power, and
//! a scope has at most seven blocks of each size, and any number of large ones.

use super::block::{Block, read, remove, write_next};
use super::words::Words;
use crate::error::Result;
use crate::scope::Scope;
use crate::transaction::Tx;

/// The number of blocks of a size that become one of the next.
const FAN: u32 = 8;
/// The size in messages from which a block is not merged any more: that would keep a writer
/// waiting.
const LARGE: u32 = 32_768;
/// The most messages of a block. Merging stops short of it.
const LARGEST: u32 = 4 * LARGE;

/// Merges the newest blocks if there are too many of them, after messages behind the number
/// `before` were added. The caller saves the scope.
pub(super) async fn merge(tx: &mut Tx<'_>, scope: &mut Scope, before: u32) -> Result<()> {
    // A block of the smallest size above one needs eight messages. Most calls add one and stop here
    // without reading.
    if before / FAN == scope.arrivals / FAN {
        return Ok(());
    }
    // Seven blocks of each power of eight up to `LARGE` are fewer than 64.
    let sql = "SELECT id, first, last FROM block WHERE tenant = $1 AND scope = $2 \
               ORDER BY id DESC LIMIT 64";
    let mut newest = tx.query::<Block>(sql, scope.id).await?;
    newest.truncate(too_many(&newest));
    let (Some(first), Some(last)) = (newest.last(), newest.first()) else {
        return Ok(());
    };
    let (first, last) = (first.first, last.last);
    let mut words = Words::default();
    // From the oldest, so that places come in their order and sorting them is a mere merge.
    for block in newest.iter().rev() {
        read(tx, scope.id, block.id, &mut words).await?;
        remove(tx, scope.id, block.id).await?;
    }
    write_next(tx, scope, first, last, words).await
}

/// Returns the number of the newest blocks that become one. `newest` is ordered from the newest to
/// the oldest.
fn too_many(newest: &[Block]) -> usize {
    let mut blocks = newest.iter().map(Block::size).peekable();
    let Some(mut size) = blocks.next() else {
        return 0;
    };
    let mut merged = 1;
    loop {
        // The blocks merged so far count as one block of their total size, which may complete the
        // next power.
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
