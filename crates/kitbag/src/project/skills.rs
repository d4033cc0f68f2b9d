//! The places of a project's skills, from its own configuration and the user's.

use std::path::{Path, PathBuf};

use kitbag_layout::FileProblem;
use kitbag_layout::config::{Declared, SkillPath, SkillSettings};

use super::{Project, ProjectPlaces, folder_of};
use crate::skill::{SkillOrigin, SkillPlace, SkillPlaces, Skills};

impl Project {
    /// The places of the skills of the project and of its user. Without a configuration the project's folder
    /// is that of its repository.
    pub(super) fn skill_places(&self, places: &ProjectPlaces) -> SkillPlaces {
        let root = match self.config_name.is_empty() {
            true => repository(&places.folder).unwrap_or_else(|| self.root.clone()),
            false => self.root.clone(),
        };
        let home = places.home.as_deref();
        let mut found = SkillPlaces::usual(root, home);
        let settings = &self.config.skills;
        let place = |path: &SkillPath| {
            let origin = match path.declared {
                // A file that was found in a folder may be anybody's: the skills that it names are not the user's.
                Declared::InFolder => SkillOrigin::Project,
                _ => SkillOrigin::User,
            };
            SkillPlace::new(self.folder_named(path, home), origin)
        };
        found.places.extend(settings.paths.iter().map(place));
        let allowed = settings.allow.iter();
        found.allowed = allowed.map(|path| self.folder_named(path, home)).collect();
        found
    }

    /// A folder that a configuration names: in the home, absolute, or relative to that configuration.
    fn folder_named(&self, named: &SkillPath, home: Option<&Path>) -> PathBuf {
        if let (Some(below), Some(home)) = (named.path.strip_prefix("~/"), home) {
            return home.join(below);
        }
        let folder = match named.file == self.config_name {
            true => self.root.clone(),
            false => folder_of(Path::new(&named.file)),
        };
        folder.join(&named.path)
    }
}

impl SkillPlaces {
    /// Reads the skills that these settings do not disable.
    pub(super) fn read_for(&self, settings: &SkillSettings) -> Skills {
        let mut skills = self.read();
        skills.budget = settings.budget();
        // By name and after reading, so that disabling a skill does not bring back a namesake in another folder.
        let is_on = |name: &str| !settings.disabled.contains(name);
        skills.skills.retain(|skill| is_on(&skill.text.name));
        let ignored = settings.ignored_allow.iter().map(|path| {
            let message =
                "a file that was found in a folder cannot allow skills; this has no effect";
            let problem = FileProblem::warning(&path.file, message).at(path.line, 0);
            let hint = "write it into your own configuration, or name this file yourself";
            problem.of("skills.allow").with_hint(hint)
        });
        skills.problems.extend(ignored);
        skills
    }
}

/// The folder of the repository that a folder is in.
fn repository(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let mut folders = folder.ancestors();
    let found = folders.find(|folder| folder.join(".git").exists());
    found.map(Path::to_path_buf)
}
