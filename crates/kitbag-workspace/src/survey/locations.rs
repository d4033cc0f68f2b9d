//! The lines of files that a stack trace names.

use std::collections::BTreeMap;

use super::phrases::points_at;
use crate::query::Frame;
use crate::walk::FileEntry;

/// The files that frames point at, as indices, with the lines in them. A frame that could mean
/// several files means none: a name such as `utils.py` is in many folders.
pub(super) fn locations(frames: &[Frame], files: &[FileEntry]) -> BTreeMap<usize, Vec<u32>> {
    let mut located: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for frame in frames {
        let files = files.iter().enumerate();
        let mut meant = files.filter(|(_, file)| points_at(&frame.path, &file.path));
        if let (Some((file, _)), None) = (meant.next(), meant.next()) {
            located.entry(file).or_default().push(frame.line);
        }
    }
    located
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    #[test]
    fn p05_a_frame_that_could_mean_several_files_means_none() {
        let files: Vec<FileEntry> = ["a/utils.py", "b/utils.py", "src/app.py"]
            .map(|path| FileEntry::new(path, 1, None))
            .into();
        let trace = "File \"utils.py\", line 3\nFile \"/srv/b/utils.py\", line 4\nsrc/app.py:7 src/app.py:9";
        let located = locations(&Query::new(trace).frames, &files);
        assert_eq!(located, BTreeMap::from([(1, vec![4]), (2, vec![7, 9])]));
    }
}
