//! Reads the files of a zip archive one after the other, as they lie in it.
//!
//! The directory at the end is not looked at: a pipe has no end to go to, and a download that was cut off
//! has no directory. Nothing is unpacked to the disk, and of each file no more is held than a buffer.

use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::ahead::Ahead;

const FILE: [u8; 4] = *b"PK\x03\x04";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// The signatures of everything after the files: the directory, the records that end it, a signature.
const BEHIND: [[u8; 4]; 5] = [
    *b"PK\x01\x02",
    *b"PK\x05\x06",
    *b"PK\x06\x06",
    *b"PK\x06\x08",
    *b"PK\x05\x05",
];

/// The most growth of an unpacked file beyond [`ALWAYS`]. Chats grow four to ten times; a file that grows
/// more is made to fill memories and disks.
const MOST_GROWTH: u64 = 200;
/// The unpacked bytes up to which a file may grow however much: small files are harmless.
const ALWAYS: u64 = 64 << 20;

/// An archive. Reading gives the bytes of the file that was unpacked last.
pub(super) struct Archive<R> {
    state: State<R>,
}

enum State<R> {
    Between(Ahead<R>),
    /// At the first byte of a file.
    Before(Ahead<R>, Header),
    Inside(BufReader<Entry<R>>),
    Over,
}

impl<R: BufRead> Archive<R> {
    pub(super) fn new(reader: Ahead<R>) -> Self {
        Self {
            state: State::Between(reader),
        }
    }

    /// Returns whether a file that begins with these bytes is an archive.
    pub(super) fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&FILE) || bytes.starts_with(b"PK\x05\x06")
    }

    /// Goes to the next file and returns its path, or `None` after the last. A file that was not unpacked
    /// is skipped, also if its packing is not supported.
    pub(super) fn go_to_next(&mut self) -> io::Result<Option<String>> {
        let mut reader = match std::mem::replace(&mut self.state, State::Over) {
            State::Between(reader) => reader,
            State::Before(reader, header) => pass_over(reader, header)?,
            State::Inside(entry) => finish(entry)?,
            State::Over => return Ok(None),
        };
        let signature = read_array::<4, R>(&mut reader)?;
        if BEHIND.contains(&signature) {
            return Ok(None);
        }
        if signature != FILE {
            return Err(damaged("the archive is damaged between its files"));
        }
        let header = Header::read(&mut reader)?;
        let path = header.path.clone();
        self.state = State::Before(reader, header);
        Ok(Some(path))
    }

    /// Makes the file that was gone to ready to be read.
    pub(super) fn unpack(&mut self) -> io::Result<()> {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Before(reader, header) => State::Inside(unpacked(reader, header)?),
            state => state,
        };
        Ok(())
    }
}

fn unpacked<R: BufRead>(reader: Ahead<R>, header: Header) -> io::Result<BufReader<Entry<R>>> {
    let entry = Entry {
        content: Content::new(reader, &header)?,
        header,
        crc: Crc::new(),
    };
    Ok(BufReader::with_capacity(64 << 10, entry))
}

/// Skips a file that nobody reads.
fn pass_over<R: BufRead>(mut reader: Ahead<R>, header: Header) -> io::Result<Ahead<R>> {
    if header.has_descriptor && header.packed == 0 {
        // The length follows the data, so only unpacking finds the end.
        return finish(unpacked(reader, header)?);
    }
    let packed = &mut reader.by_ref().take(header.packed);
    if io::copy(packed, &mut io::sink())? < header.packed {
        return Err(cut_off());
    }
    if header.has_descriptor {
        read_descriptor(&mut reader, header.packed, header.length)?;
    }
    Ok(reader)
}

/// Reads a file to its end, and compares it with what the archive says of it.
fn finish<R: BufRead>(mut file: BufReader<Entry<R>>) -> io::Result<Ahead<R>> {
    io::copy(&mut file, &mut io::sink())?;
    let Entry {
        content,
        header,
        crc,
    } = file.into_inner();
    // The rest of the file was read above, so that its checksum covers all of it.
    let (mut reader, packed, length) = content.end();
    let expected = match header.has_descriptor {
        true => read_descriptor(&mut reader, packed, length)?,
        false => header.crc,
    };
    if expected != crc.sum() {
        let what = format!("`{}` of the archive is damaged", header.path);
        return Err(damaged(&what));
    }
    Ok(reader)
}

/// Reads the checksum after a file, and its two lengths of four or eight bytes each.
fn read_descriptor<R: BufRead>(reader: &mut Ahead<R>, packed: u64, length: u64) -> io::Result<u32> {
    // The signature is optional.
    if reader.peek(4)?.starts_with(&DESCRIPTOR) {
        reader.consume(4);
    }
    let crc = u32::from_le_bytes(read_array(reader)?);
    // Nothing says whether the lengths have four bytes or eight: if eight fit what was read, it is eight.
    let mut lengths = [packed.to_le_bytes(), length.to_le_bytes()].concat();
    if !reader.peek(16)?.starts_with(&lengths) {
        lengths.truncate(8);
    }
    for _ in 0..lengths.len() / 4 {
        read_array::<4, R>(reader)?;
    }
    Ok(crc)
}

/// The header of a file.
struct Header {
    /// The path, with control characters written out.
    path: String,
    method: u16,
    crc: u32,
    /// The packed length; zero also if it only follows the file.
    packed: u64,
    length: u64,
    has_descriptor: bool,
    is_encrypted: bool,
}

impl Header {
    fn read<R: BufRead>(reader: &mut Ahead<R>) -> io::Result<Self> {
        let _version: [u8; 2] = read_array(reader)?;
        let flags = u16::from_le_bytes(read_array(reader)?);
        let method = u16::from_le_bytes(read_array(reader)?);
        let _time_and_date: [u8; 4] = read_array(reader)?;
        let crc = u32::from_le_bytes(read_array(reader)?);
        let mut packed = u64::from(u32::from_le_bytes(read_array(reader)?));
        let mut length = u64::from(u32::from_le_bytes(read_array(reader)?));
        let path_length = u16::from_le_bytes(read_array(reader)?);
        let extra_length = u16::from_le_bytes(read_array(reader)?);
        let path = read_vec(reader, path_length)?;
        let extra = read_vec(reader, extra_length)?;
        let mut large = large_lengths(&extra).unwrap_or_default();
        // The format orders them: unpacked length first, and only those that do not fit into four bytes.
        for short in [&mut length, &mut packed] {
            if *short == u64::from(u32::MAX)
                && let Some((long, rest)) = large.split_first_chunk()
            {
                *short = u64::from_le_bytes(*long);
                large = rest;
            }
        }
        Ok(Self {
            path: shown(&path),
            method,
            crc,
            packed,
            length,
            has_descriptor: flags & 8 != 0,
            is_encrypted: flags & 1 != 0,
        })
    }
}

/// A path as a line of a message can hold it. Backslashes stay: they divide folders.
fn shown(path: &[u8]) -> String {
    let mut shown = String::with_capacity(path.len());
    for c in String::from_utf8_lossy(path).chars() {
        match c {
            // These change the direction of the text that follows, and could disguise a path in a message.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => shown.extend(c.escape_default()),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// The extra field with lengths of eight bytes.
fn large_lengths(mut extra: &[u8]) -> Option<&[u8]> {
    while let [id_low, id_high, low, high, rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let field = rest.get(..length)?;
        // 1 is the id of the zip64 field.
        if u16::from_le_bytes([*id_low, *id_high]) == 1 {
            return Some(field);
        }
        extra = rest.get(length..)?;
    }
    None
}

/// Tells whether the next bytes are the descriptor of an empty file and the beginning of another part
/// of the archive.
fn ends_here<R: BufRead>(reader: &mut Ahead<R>) -> io::Result<bool> {
    // A signature, a descriptor with lengths of eight bytes, and the signature of the next part.
    let next = reader.peek(28)?;
    let next = next.strip_prefix(&DESCRIPTOR).unwrap_or(next);
    let is_descriptor = |length| {
        let Some((zeros, behind)) = next.split_at_checked(length) else {
            return false;
        };
        let begins = |signature: &[u8; 4]| behind.starts_with(signature);
        zeros.iter().all(|byte| *byte == 0) && (begins(&FILE) || BEHIND.iter().any(begins))
    };
    // With lengths of four or of eight bytes.
    Ok(is_descriptor(12) || is_descriptor(20))
}

/// The packed bytes of a file.
enum Content<R> {
    Stored {
        reader: Ahead<R>,
        left: u64,
        length: u64,
    },
    Deflated(Box<DeflateDecoder<Ahead<R>>>),
}

impl<R: BufRead> Content<R> {
    fn new(mut reader: Ahead<R>, header: &Header) -> io::Result<Self> {
        let path = &header.path;
        let unsupported = |what: String| Err(io::Error::new(ErrorKind::Unsupported, what));
        if header.is_encrypted {
            return unsupported(format!("`{path}` of the archive needs a password"));
        }
        match header.method {
            // Stored data has no mark of its end. Only an empty file, such as a folder, can be read without a length.
            0 if header.has_descriptor && header.packed == 0 && !ends_here(&mut reader)? => {
                unsupported(format!("the archive does not tell where `{path}` ends"))
            }
            0 => Ok(Self::Stored {
                reader,
                left: header.packed,
                length: header.packed,
            }),
            8 => Ok(Self::Deflated(Box::new(DeflateDecoder::new(reader)))),
            method => unsupported(format!(
                "`{path}` of the archive is packed by method {method}, and only 0 and 8 can be read"
            )),
        }
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Deflated(decoder) => decoder.read(into),
            Self::Stored { reader, left, .. } => {
                let most = usize::try_from(*left).unwrap_or(usize::MAX).min(into.len());
                let into = into.get_mut(..most).unwrap_or_default();
                let read = reader.read(into)?;
                if read == 0 && most > 0 {
                    return Err(cut_off());
                }
                *left -= read as u64;
                Ok(read)
            }
        }
    }

    /// The bytes that were read, packed and unpacked.
    fn lengths(&self) -> (u64, u64) {
        match self {
            Self::Stored { left, length, .. } => (length - left, length - left),
            Self::Deflated(decoder) => (decoder.total_in(), decoder.total_out()),
        }
    }

    fn end(self) -> (Ahead<R>, u64, u64) {
        let (packed, length) = self.lengths();
        match self {
            Self::Stored { reader, .. } => (reader, packed, length),
            Self::Deflated(decoder) => (decoder.into_inner(), packed, length),
        }
    }
}

/// A file of the archive, unpacked as it is read.
struct Entry<R> {
    content: Content<R>,
    header: Header,
    crc: Crc,
}

impl<R: BufRead> Read for Entry<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(into)?;
        self.crc.update(into.get(..read).unwrap_or_default());
        let (packed, length) = self.content.lengths();
        // Checked while reading: the lengths in the header are whatever the maker of the archive wrote.
        if length > ALWAYS && length / MOST_GROWTH > packed {
            let what = format!(
                "`{}` of the archive grows to more than {MOST_GROWTH} times its size",
                self.header.path
            );
            return Err(damaged(&what));
        }
        Ok(read)
    }
}

impl<R: BufRead> Read for Archive<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Inside(entry) => entry.read(into),
            State::Between(_) | State::Before(..) | State::Over => Ok(0),
        }
    }
}

impl<R: BufRead> BufRead for Archive<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.state {
            State::Inside(entry) => entry.fill_buf(),
            State::Between(_) | State::Before(..) | State::Over => Ok(&[]),
        }
    }

    fn consume(&mut self, amount: usize) {
        if let State::Inside(entry) = &mut self.state {
            entry.consume(amount);
        }
    }
}

fn read_array<const N: usize, R: BufRead>(reader: &mut Ahead<R>) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes).map_err(said_as_cut_off)?;
    Ok(bytes)
}

fn read_vec<R: BufRead>(reader: &mut Ahead<R>, length: u16) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(length)];
    reader.read_exact(&mut bytes).map_err(said_as_cut_off)?;
    Ok(bytes)
}

fn said_as_cut_off(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => cut_off(),
        _ => error,
    }
}

fn cut_off() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "the archive is cut off")
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

impl<R> fmt::Debug for Archive<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").finish_non_exhaustive()
    }
}
