//! All files of a workspace: as many as fit whole, those first that have to do with the task, and the
//! others by name.

use kitbag_core::chunk::{Coverage, Detail, Level, Relevance};
use kitbag_core::rank::RankTask;
use rayon::prelude::*;

use super::PackOptions;
use super::files::{FileChunk, ReadFile};

/// The worth of a name beside the whole file, in thousandths.
const NAME: u16 = 20;

/// The least that a file is worth which has nothing to do with the task, in parts per million.
const LEAST: u32 = 200_000;

pub(super) fn chunks(
    files: Vec<ReadFile<'_>>,
    options: &PackOptions,
    task: &RankTask,
) -> Vec<FileChunk> {
    let best = files.iter().map(|file| file.evidence.total()).max();
    let best = best.unwrap_or_default().max(1);
    let chunks = files.into_par_iter().with_max_len(1).map(|file| {
        let mut chunk = file.chunk();
        let score = options.score(&chunk, task);
        let share = file.evidence.total().max(0) as f64 / best as f64;
        let more = f64::from(1_000_000 - LEAST) * share;
        let size = f64::from(u32::try_from(chunk.content().len()).unwrap_or(u32::MAX)).max(64.0);
        chunk.relevance = match file.is_pinned() {
            true => Relevance::CERTAIN,
            // By its size, so that a long file is not out for being long.
            false => {
                let worth = (f64::from(LEAST) + more) * (size / LONGEST).min(1.0);
                Relevance::from_ppm(worth as u32)
            }
        };
        let name = Level::new(Detail::Line, chunk.source.as_str());
        chunk
            .levels
            .push(name.with_coverage(Coverage::from_permille(NAME)));
        file.finish(chunk, score, options)
    });
    chunks.collect()
}

/// The worth of a file grows with its bytes up to here.
const LONGEST: f64 = 20_000.0;
