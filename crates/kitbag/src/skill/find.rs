//! Finds and reads skills, one in each folder, and follows no link that leads out of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use kitbag_core::context::McpServer;
use kitbag_layout::{FileProblem, SkillText};
use kitbag_text::{is_no_file, read_small};

use super::{Skill, SkillOrigin, Skills, servers};

/// The folders of skills in a project and in the user's home, those whose skills count more last.
const FOLDERS: [&str; 2] = [".claude/skills", ".agents/skills"];

/// The names of a skill's file; the reference validator knows both.
const FILES: [&str; 2] = ["SKILL.md", "skill.md"];

/// The most skills of one folder.
const MOST_SKILLS: usize = 500;

/// The most bytes of a skill's file: prompts of that size fit no model.
const MOST_BYTES: u64 = 256 * 1024;

impl Skills {
    /// Reads the skill in a folder, or those in its subfolders, to check them.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        let folder = fs::canonicalize(folder)?;
        // A folder that cannot be read is an error here, and not a problem among others.
        fs::read_dir(&folder)?;
        let mut places = SkillPlaces::default();
        if let Some((skill, problems)) = places.read_folder(&folder, SkillOrigin::User) {
            return Ok(Self {
                skills: skill.into_iter().collect(),
                problems,
                ..Self::default()
            });
        }
        let shown = folder.display().to_string();
        places
            .places
            .push(SkillPlace::new(folder, SkillOrigin::User));
        let mut skills = places.read();
        if skills.skills.is_empty() && skills.problems.is_empty() {
            let message = "there is no SKILL.md, here or in a folder directly below";
            skills.problems.push(FileProblem::error(&shown, message));
        }
        Ok(skills)
    }
}

/// A folder with skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillPlace {
    pub(crate) folder: PathBuf,
    pub(crate) origin: SkillOrigin,
}

impl SkillPlace {
    /// A folder with skills of this origin.
    pub(crate) const fn new(folder: PathBuf, origin: SkillOrigin) -> Self {
        Self { folder, origin }
    }
}

/// The places to search for skills.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkillPlaces {
    /// The project's folder, which no skill of the project may lead out of.
    pub(crate) root: PathBuf,
    /// The folders, those whose skills count more last.
    pub(crate) places: Vec<SkillPlace>,
    /// Folders whose skills are the user's own, wherever they were found.
    pub(crate) allowed: Vec<PathBuf>,
}

impl SkillPlaces {
    /// The usual folders of a project and of the user's home. What is the user's is not the project's too.
    pub(crate) fn usual(root: PathBuf, home: Option<&Path>) -> Self {
        let of =
            |folder: &Path, origin| FOLDERS.map(|name| SkillPlace::new(folder.join(name), origin));
        let user = home.map(|home| of(home, SkillOrigin::User));
        let mut places: Vec<SkillPlace> = user.into_iter().flatten().collect();
        // In the home folder itself the same folders would be found twice, once without the user's trust.
        let is_home = home.is_some_and(|home| same(home, &root));
        if !is_home {
            places.extend(of(&root, SkillOrigin::Project));
        }
        Self {
            root,
            places,
            allowed: Vec::new(),
        }
    }

    /// Reads all skills. Of two with one name that of the later folder counts, with a warning.
    pub(crate) fn read(&self) -> Skills {
        let mut problems = Vec::new();
        let mut skills: BTreeMap<String, Skill> = BTreeMap::new();
        for place in &self.places {
            for skill in self.read_place(place, &mut problems) {
                let name = skill.text.name.clone();
                let location = skill.location.clone();
                if let Some(hidden) = skills.insert(name, skill) {
                    let message = format!("it counts in the place of {}", hidden.location);
                    problems.push(FileProblem::warning(&location, message).of("name"));
                }
            }
        }
        Skills {
            skills: skills.into_values().collect(),
            problems,
            budget: 0,
        }
    }

    fn read_place(&self, place: &SkillPlace, problems: &mut Vec<FileProblem>) -> Vec<Skill> {
        let shown = self.shown(&place.folder, place.origin);
        // A folder of skills that does not exist is the usual case.
        let mut folders = match self.folders(place) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                problems.push(FileProblem::error(
                    &shown,
                    format!("cannot be read: {error}"),
                ));
                return Vec::new();
            }
        };
        if folders.len() > MOST_SKILLS {
            let message = format!(
                "{} folders are more than {MOST_SKILLS}; the rest is left out",
                folders.len()
            );
            problems.push(FileProblem::error(&shown, message));
            folders.truncate(MOST_SKILLS);
        }
        let read = folders.into_iter().filter_map(|folder| {
            let (skill, found) = self.read_folder(&folder, place.origin)?;
            problems.extend(found);
            skill
        });
        read.collect()
    }

    /// The folders in a place, by name.
    fn folders(&self, place: &SkillPlace) -> io::Result<Vec<PathBuf>> {
        if place.origin == SkillOrigin::Project {
            let found = fs::canonicalize(&place.folder)?;
            if !found.starts_with(fs::canonicalize(&self.root)?) {
                return Err(io::Error::other("it leads out of the project's folder"));
            }
        }
        let entries = fs::read_dir(&place.folder)?.map(|entry| Ok(entry?.path()));
        let mut folders = entries.collect::<io::Result<Vec<PathBuf>>>()?;
        folders.retain(|folder| folder.is_dir());
        folders.sort();
        Ok(folders)
    }

    /// Reads the skill in a folder, with its problems; `None` if the folder has no skill.
    fn read_folder(
        &self,
        folder: &Path,
        origin: SkillOrigin,
    ) -> Option<(Option<Skill>, Vec<FileProblem>)> {
        let mut files = FILES.iter().map(|name| folder.join(name));
        let file = files.find(|file| file.symlink_metadata().is_ok())?;
        let is_link = folder.symlink_metadata().is_ok_and(|it| it.is_symlink());
        let location = self.shown(&file, origin);
        // The user may link folders at will; a project's link could show any file of the machine.
        if is_link && origin == SkillOrigin::Project {
            let message = "the skill's folder is a link, which is not followed";
            return Some((None, vec![FileProblem::error(&location, message)]));
        }
        let text = match read_text(&file) {
            Ok(text) => text,
            Err(error) => return Some((None, vec![FileProblem::error(&location, error)])),
        };
        let name = folder.file_name().unwrap_or_default();
        let (text, mut problems) = SkillText::read(&location, &name.to_string_lossy(), &text);
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        let servers = self.read_servers(&folder, origin, &mut problems);
        let origin = match origin {
            // Compared as a real path, so that a link cannot borrow the trust of an allowed folder.
            SkillOrigin::Project if self.allows(&folder) => SkillOrigin::Allowed,
            origin => origin,
        };
        let skill = text.map(|text| Skill {
            text,
            folder,
            location,
            origin,
            servers,
        });
        Some((skill, problems))
    }

    fn read_servers(
        &self,
        folder: &Path,
        origin: SkillOrigin,
        problems: &mut Vec<FileProblem>,
    ) -> Vec<McpServer> {
        let file = folder.join(servers::FILE);
        if file.symlink_metadata().is_err() {
            return Vec::new();
        }
        let shown = self.shown(&file, origin);
        match read_text(&file) {
            Ok(text) => {
                let (read, found) = servers::read(&shown, &text, folder);
                problems.extend(found);
                read
            }
            Err(error) => {
                problems.push(FileProblem::error(&shown, error));
                Vec::new()
            }
        }
    }

    fn allows(&self, folder: &Path) -> bool {
        let allowed = self
            .allowed
            .iter()
            .filter_map(|it| fs::canonicalize(it).ok());
        allowed
            .into_iter()
            .any(|allowed| folder.starts_with(allowed))
    }

    /// A path for prompts and people. Only the user's own are absolute, so that no file of a project can pass
    /// for one of them.
    fn shown(&self, path: &Path, origin: SkillOrigin) -> String {
        if origin == SkillOrigin::Project {
            let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
            let below = path
                .strip_prefix(&self.root)
                .or_else(|_| path.strip_prefix(root));
            let below =
                below.unwrap_or_else(|_| Path::new(path.file_name().unwrap_or(OsStr::new(""))));
            return below.display().to_string();
        }
        let absolute = std::path::absolute(path);
        let absolute = absolute.unwrap_or_else(|_| path.to_path_buf());
        absolute.display().to_string()
    }
}

fn same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// The text of a file that is not a link, or the reason why it cannot be read.
fn read_text(file: &Path) -> Result<String, String> {
    let bytes = read_small(file, MOST_BYTES + 1).map_err(|error| match is_no_file(&error) {
        true => "it is no regular file; links are not followed".to_owned(),
        false => format!("cannot be read: {error}"),
    })?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it is larger than {MOST_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
