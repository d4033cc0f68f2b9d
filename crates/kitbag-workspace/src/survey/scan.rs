//! Reads every file once and counts the words of the query in it.

use std::path::Path;

use rayon::prelude::*;

use crate::matcher::Matcher;
use crate::query::Query;
use crate::relevance::field::Document;
use crate::text::{self, ContentKind, ReadError};
use crate::walk::{FileEntry, SkipReason, Skipped, is_bulk};
use crate::workspace::Workspace;

/// The result of a scan.
pub(super) struct Scanned {
    /// For each file its words; nothing for one that was left out.
    pub(super) documents: Vec<Option<Document>>,
    /// The files that turned out not to be worth showing.
    pub(super) skipped: Vec<Skipped>,
}

/// Scans the files of a workspace. Where the identifiers of a file are known, they are searched instead.
pub(super) fn scan(workspace: &Workspace, matcher: &Matcher, query: &Query) -> Scanned {
    let (root, files) = (workspace.root(), workspace.files());
    let terms = query.terms.len();
    let found = workspace.texts().map(|texts| texts.search(matcher));
    let scan_file = |buffer: &mut Vec<u8>, counts: &mut [u32], index: usize, file: &FileEntry| {
        let Some((texts, found)) = workspace.texts().zip(found.as_ref()) else {
            read(root, file, buffer)?;
            return Ok(count(buffer, matcher, counts));
        };
        let Some(known) = texts.get(index) else {
            let result = read(root, file, buffer);
            let text = || match &result {
                Ok(()) => Ok(buffer.as_slice().into()),
                Err(skipped) => Err(skipped.clone()),
            };
            texts.keep(index, text, buffer.len());
            result?;
            return Ok(count(buffer, matcher, counts));
        };
        let bytes = known.as_ref().map_err(Clone::clone)?;
        match texts.occurrences(index) {
            Some(occurrences) => {
                found.add_to(counts, occurrences);
                Ok(document(bytes, counts))
            }
            None => Ok(count(bytes, matcher, counts)),
        }
    };
    let read: Vec<Result<Document, Skipped>> = files
        .par_iter()
        .enumerate()
        // Files are small: each on its own would cost more in scheduling than in reading.
        .with_min_len(64)
        .map_init(
            // The buffers are used again for all files of a job.
            || (Vec::new(), vec![0_u32; terms]),
            |(buffer, counts), (index, file)| scan_file(buffer, counts, index, file),
        )
        .collect();
    let mut scanned = Scanned {
        documents: Vec::with_capacity(files.len()),
        skipped: Vec::new(),
    };
    for result in read {
        match result {
            Ok(document) => scanned.documents.push(Some(document)),
            Err(skipped) => {
                scanned.documents.push(None);
                scanned.skipped.push(skipped);
            }
        }
    }
    scanned
}

/// Reads a file as UTF-8, or in an encoding that has the same letters.
fn read(root: &Path, file: &FileEntry, buffer: &mut Vec<u8>) -> Result<(), Skipped> {
    let skip = |reason| Skipped {
        path: file.path.clone(),
        reason,
    };
    let unreadable = |error: ReadError| SkipReason::Unreadable {
        message: error.to_string(),
    };
    if is_bulk(&file.path, file.role, file.size) {
        return Err(skip(SkipReason::Data));
    }
    text::read(root, file, buffer).map_err(|error| skip(unreadable(error)))?;
    match text::kind(buffer, &file.path) {
        ContentKind::Text => {}
        ContentKind::Binary => return Err(skip(SkipReason::Binary)),
        ContentKind::Generated => return Err(skip(SkipReason::Generated)),
        ContentKind::Minified => return Err(skip(SkipReason::Minified)),
        ContentKind::Data => return Err(skip(SkipReason::Generated)),
    }
    // In UTF-16 the letters are two bytes apart, and the matcher would find none.
    let is_utf16 = matches!(buffer.as_slice(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    if let Some(text) = is_utf16.then(|| text::decode(buffer)).flatten() {
        *buffer = text.into_owned().into_bytes();
    }
    Ok(())
}

/// The words of one file. `counts` has a place for each term and is left as zeros.
fn count(bytes: &[u8], matcher: &Matcher, counts: &mut [u32]) -> Document {
    matcher.find(bytes, |_, term| {
        if let Some(count) = counts.get_mut(term) {
            *count = count.saturating_add(1);
        }
    });
    document(bytes, counts)
}

/// A file with the terms that were counted. `counts` is left as zeros.
fn document(bytes: &[u8], counts: &mut [u32]) -> Document {
    let mut document = Document {
        counts: Vec::new(),
        length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
    };
    for (term, count) in counts.iter_mut().enumerate() {
        if *count > 0 {
            document
                .counts
                .push((u16::try_from(term).unwrap_or(u16::MAX), *count));
            *count = 0;
        }
    }
    document.counts.shrink_to_fit();
    document
}
