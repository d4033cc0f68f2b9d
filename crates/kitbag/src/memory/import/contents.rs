//! The files of an archive in words, for the error of an archive with nothing to import.

/// The number of files that are named.
const NAMED: usize = 3;

/// The files of an archive so far.
#[derive(Debug, Default)]
pub(super) struct Contents {
    read: Names,
    passed: Names,
}

/// A number of files, and the first of them by their paths.
#[derive(Debug, Default)]
struct Names {
    count: u64,
    first: Vec<String>,
}

impl Contents {
    /// Adds a file that is read for its conversations.
    pub(super) fn add_read(&mut self, path: &str) {
        self.read.add(path);
    }

    /// Adds a file that is skipped.
    pub(super) fn add_passed(&mut self, path: &str) {
        self.passed.add(path);
    }

    /// The number of files that were skipped.
    pub(super) fn passed(&self) -> u64 {
        self.passed.count
    }

    /// The files, none of which has a message.
    pub(super) fn describe(&self) -> String {
        let (read, passed) = (self.read.describe(), self.passed.describe());
        match (self.read.count, self.passed.count) {
            (0, 0) => "it has no files".to_owned(),
            (0, _) => format!("it has {passed}"),
            (_, 0) => format!("there is no message in {read}"),
            (_, _) => format!("there is no message in {read}, and it has {passed} besides"),
        }
    }
}

impl Names {
    fn add(&mut self, path: &str) {
        self.count += 1;
        // Archives may have thousands of files; a few names show what kind of archive it is.
        if self.first.len() < NAMED {
            self.first.push(format!("`{path}`"));
        }
    }

    fn describe(&self) -> String {
        let named = self.first.join(", ");
        match self.count - self.first.len() as u64 {
            0 => named,
            1 => format!("{named} and another file"),
            more => format!("{named} and {more} other files"),
        }
    }
}
