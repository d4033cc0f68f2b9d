//! The context as a Markdown document: what the pack holds, for a person to paste somewhere.
//!
//! It has neither the pack's opening line nor its instructions for a kind of task: what to do with
//! the context is said wherever it is pasted.

use super::pack::{context, injected, instructions_before, request};
use super::{Laid, Placed};
use crate::assembly::draft::Draft;
use crate::assembly::segment::TextSegments;
use crate::band::Band;

pub(super) fn lay_out(draft: &Draft, chunks: &Placed<'_>) -> Laid {
    let mut out = TextSegments::default();
    instructions_before(draft, &mut out);
    context(draft, chunks, &mut out);
    request(draft, &mut out);
    injected(draft, Band::SuffixSystem, &mut out);
    chunks.finish(out)
}
