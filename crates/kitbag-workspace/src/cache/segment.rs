//! A file of values: an index of keys with its own checksum, then the values one after another.
//!
//! It is written once, whole, under a temporary name, and moved to its place; after that it is only
//! read or deleted.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use super::Key;

/// The values that were put and are not yet on disk.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    places: BTreeMap<Key, (usize, usize)>,
    bytes: Vec<u8>,
}

impl Unwritten {
    /// Adds the bytes of a value, unless the key is there already: its value is the same.
    pub(super) fn add(&mut self, key: Key, bytes: &[u8]) {
        if self.places.contains_key(&key) {
            return;
        }
        self.places.insert(key, (self.bytes.len(), bytes.len()));
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn get(&self, key: &Key) -> Option<&[u8]> {
        let (start, length) = *self.places.get(key)?;
        self.bytes.get(start..start + length)
    }

    pub(super) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Writes a segment, and returns where it is.
    pub(super) fn write_to(&self, folder: &Path) -> io::Result<PathBuf> {
        let mut index = Vec::with_capacity(self.places.len() * ROW);
        for (key, (start, length)) in &self.places {
            index.extend(key.as_bytes());
            index.extend((*start as u64).to_le_bytes());
            index.extend((*length as u64).to_le_bytes());
        }
        let sum = blake3::hash(&index);
        let mut head = Vec::with_capacity(HEAD + index.len());
        head.extend(MARK);
        head.extend((self.places.len() as u64).to_le_bytes());
        head.extend(sum.as_bytes());
        head.append(&mut index);
        // The file's name is its index's hash: two processes that did the same work write it once.
        let place = folder.join(format!("{sum}.{EXTENSION}"));
        // In the same folder: a move between file systems would fail.
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(folder)?;
        file.write_all(&head)?;
        file.write_all(&self.bytes)?;
        file.into_temp_path().persist(&place)?;
        Ok(place)
    }
}

/// A segment on disk, open for reading.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    /// The last time that a value of it was used, as far as that was noted.
    pub(super) used: SystemTime,
    file: File,
    /// Rows in the order of their keys.
    index: Vec<u8>,
    is_fresh: AtomicBool,
}

/// Opens every segment of a folder, in the order of their names; damaged ones are
/// returned by their paths.
pub(super) fn all_in(folder: &Path) -> (Vec<Segment>, Vec<PathBuf>) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.retain(|path| is_segment(path));
    // The order of a directory listing differs between file systems.
    paths.sort();
    let (mut segments, mut damaged) = (Vec::with_capacity(paths.len()), Vec::new());
    for path in paths {
        match Segment::open(&path) {
            Ok(Some(segment)) => segments.push(segment),
            Ok(None) => damaged.push(path),
            // Deleted by another process, or not ours to read.
            Err(_) => {}
        }
    }
    (segments, damaged)
}

impl Segment {
    /// Opens a segment; none if it is not as it was written.
    fn open(path: &Path) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let about = file.metadata()?;
        let mut head = Vec::with_capacity(HEAD);
        (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
        let Some((count, sum)) = head
            .strip_prefix(MARK)
            .and_then(|head| head.split_first_chunk())
        else {
            return Ok(None);
        };
        let length = u64::from_le_bytes(*count).saturating_mul(ROW as u64);
        let mut index = Vec::new();
        (&mut file)
            // A corrupt length must not make us reserve or read more than the file has.
            .take(length.min(about.len()))
            .read_to_end(&mut index)?;
        if index.len() as u64 != length || blake3::hash(&index).as_bytes() != sum {
            return Ok(None);
        }
        let used = about.modified()?;
        let age = used.elapsed().unwrap_or_default();
        Ok(Some(Self {
            path: path.to_owned(),
            size: about.len(),
            used,
            file,
            index,
            is_fresh: AtomicBool::new(age < FRESH),
        }))
    }

    /// The bytes under a key, as they are on disk, and notes the use.
    pub(super) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let (rows, _) = self.index.as_chunks::<ROW>();
        let at = rows
            .binary_search_by(|row| {
                row.as_slice()
                    .get(..blake3::OUT_LEN)
                    .cmp(&Some(key.as_bytes()))
            })
            .ok()?;
        let bytes = self.read(rows.get(at)?)?;
        // Where the file or the clock does not allow it, the segment is only deleted earlier.
        if !self.is_fresh.swap(true, Ordering::Relaxed) {
            drop(self.file.set_modified(SystemTime::now()));
        }
        Some(bytes)
    }

    /// Every key with its bytes.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Key, Vec<u8>)> {
        let (rows, _) = self.index.as_chunks::<ROW>();
        rows.iter().filter_map(|row| {
            let key = *row.first_chunk()?;
            Some((Key::from_bytes(key), self.read(row)?))
        })
    }

    fn read(&self, row: &[u8; ROW]) -> Option<Vec<u8>> {
        let (place, length) = row.last_chunk::<16>()?.split_at(8);
        let place = u64::from_le_bytes(place.try_into().ok()?);
        let length = u64::from_le_bytes(length.try_into().ok()?);
        let start = (HEAD + self.index.len()) as u64 + place;
        // The checksum covers the index alone; the file may have been cut behind it.
        if start.checked_add(length)? > self.size {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        read_exact_at(&self.file, &mut bytes, start).ok()?;
        Some(bytes)
    }
}

/// Tells by its name if a path is one of our files.
fn is_segment(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().as_encoded_bytes();
    path.extension()
        .is_some_and(|extension| extension == EXTENSION)
        && name.len() == 2 * blake3::OUT_LEN
        && name.iter().all(u8::is_ascii_hexdigit)
}

/// The start of the name of a file that is not complete yet.
pub(super) const UNFINISHED: &str = "unfinished-";

/// The time for which a noted use counts: noting each would make reading as slow as writing.
pub(super) const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// Changes whenever the layout does, so that versions of the program do not delete each other's.
const EXTENSION: &str = "v1";

const MARK: &[u8; 8] = b"kitbag\0\x01";
const HEAD: usize = MARK.len() + 8 + blake3::OUT_LEN;
/// A key, where its value begins, and how long it is.
const ROW: usize = blake3::OUT_LEN + 8 + 8;

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut start: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, start)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = bytes.get_mut(read..).unwrap_or_default();
        start += read as u64;
    }
    Ok(())
}
