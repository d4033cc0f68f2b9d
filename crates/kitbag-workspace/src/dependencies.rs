//! The dependencies of a project, from its manifests.
//!
//! Manifests are read as they are written: nothing is run, resolved over the network or looked up in
//! a lock file, and of the manifests that are programs (Gradle, Ruby, Swift and others) only the
//! usual forms of one line are understood. What cannot be read is said in
//! [`Dependencies::problems`]; it never stops the rest.

mod cargo;
mod cmake;
mod composer;
mod dotnet;
mod go;
mod gradle;
mod hex;
mod levels;
mod link;
mod maven;
mod npm;
mod python;
mod ruby;
mod sbt;
mod sources;
mod swift;
mod written;

use std::fmt;

pub use self::levels::levels;
use self::sources::Sources;

/// The manifests of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependencies {
    /// The manifests: those of the project proper before those of its tests, examples and vendored
    /// code, from the root down.
    pub manifests: Vec<Manifest>,
    /// The manifests that could not be read.
    pub problems: Vec<ManifestProblem>,
}

/// One manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// The file.
    pub path: String,
    /// The package manager or build tool that reads it.
    pub ecosystem: Ecosystem,
    /// The name of the package, where it has one.
    pub name: Option<String>,
    /// The version of the package, where it is given.
    pub version: Option<String>,
    /// The dependencies of the package, in the order of the manifest.
    pub dependencies: Vec<Dependency>,
    /// Set if it belongs to the project proper: it is a member of a workspace, or in no folder for
    /// tests, examples, fixtures, documentation or vendored code.
    pub is_primary: bool,
}

impl Manifest {
    /// The folder that the package is in; the root is empty.
    #[must_use]
    pub fn folder(&self) -> &str {
        crate::relative::folder_of(&self.path)
    }

    /// Tells if it has a dependency of this name.
    fn has(&self, name: &str) -> bool {
        self.dependencies.iter().any(|known| known.name == name)
    }

    fn new(path: &str, ecosystem: Ecosystem) -> Self {
        Self {
            path: path.to_owned(),
            ecosystem,
            name: None,
            version: None,
            dependencies: Vec::new(),
            // A first guess by the path; workspaces mark their members later.
            is_primary: !sources::is_aside(path),
        }
    }
}

/// Something that a package depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependency {
    /// The name by which the package knows it.
    pub name: String,
    /// The versions that will do, as it is written; none if any will.
    pub requirement: Option<String>,
    /// The purpose for which it is needed.
    pub kind: DependencyKind,
    /// The folder of the workspace that it is in, if it is; the root is empty.
    pub local: Option<String>,
}

impl Dependency {
    fn new(name: impl Into<String>, kind: DependencyKind) -> Self {
        Self {
            name: name.into(),
            requirement: None,
            kind,
            local: None,
        }
    }

    fn requiring(mut self, requirement: impl AsRef<str>) -> Self {
        let requirement = requirement.as_ref().trim();
        self.requirement = (!matches!(requirement, "" | "*")).then(|| requirement.to_owned());
        self
    }

    fn at(mut self, folder: Option<String>) -> Self {
        self.local = folder;
        self
    }
}

/// The purpose of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DependencyKind {
    /// To run.
    Normal,
    /// To develop and test.
    Dev,
    /// To build.
    Build,
    /// To be brought by whoever uses the package.
    Peer,
    /// Only if asked for.
    Optional,
}

/// The package manager or build tool that reads a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Ecosystem {
    /// `Cargo.toml`.
    Cargo,
    /// `package.json`.
    Npm,
    /// `pyproject.toml`, requirements, `setup.cfg`, `setup.py`, `Pipfile`.
    Python,
    /// `go.mod`.
    Go,
    /// `pom.xml`.
    Maven,
    /// `build.gradle`, `build.gradle.kts`.
    Gradle,
    /// `composer.json`.
    Composer,
    /// `Gemfile`, `*.gemspec`.
    Ruby,
    /// `*.csproj`, `*.fsproj`, `*.vbproj`.
    DotNet,
    /// `mix.exs`.
    Hex,
    /// `Package.swift`.
    Swift,
    /// `build.sbt`.
    Sbt,
    /// `CMakeLists.txt`.
    CMake,
}

impl Ecosystem {
    /// The name by which people call it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cargo => "Cargo",
            Self::Npm => "npm",
            Self::Python => "Python",
            Self::Go => "Go",
            Self::Maven => "Maven",
            Self::Gradle => "Gradle",
            Self::Composer => "Composer",
            Self::Ruby => "Ruby",
            Self::DotNet => ".NET",
            Self::Hex => "Hex",
            Self::Swift => "Swift",
            Self::Sbt => "sbt",
            Self::CMake => "CMake",
        }
    }
}

/// A manifest that could not be read, or not in full.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ManifestProblem {
    /// The file.
    pub path: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for ManifestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

/// Reads the manifests among `paths`.
///
/// ```
/// use kitbag_workspace::dependencies::dependencies;
///
/// let read = |path: &str| match path {
///     "Cargo.toml" => Some("[package]\nname = 'app'\n[dependencies]\nlib = { path = 'lib' }".into()),
///     "lib/Cargo.toml" => Some("[package]\nname = 'lib'".into()),
///     _ => None,
/// };
/// let found = dependencies(&["Cargo.toml", "lib/Cargo.toml", "lib/src/lib.rs"], &read);
/// assert_eq!(found.manifests[0].dependencies[0].local.as_deref(), Some("lib"));
/// ```
#[must_use]
pub fn dependencies(paths: &[&str], read: &dyn Fn(&str) -> Option<String>) -> Dependencies {
    let sources = Sources::new(paths, read);
    let mut manifests = Vec::new();
    for ecosystem in [
        cargo::manifests,
        npm::manifests,
        python::manifests,
        go::manifests,
        maven::manifests,
        gradle::manifests,
        composer::manifests,
        ruby::manifests,
        dotnet::manifests,
        hex::manifests,
        swift::manifests,
        sbt::manifests,
        cmake::manifests,
    ] {
        manifests.extend(ecosystem(&sources));
    }
    manifests
        .iter_mut()
        .for_each(|manifest| sources.bound(manifest));
    // A manifest with neither, such as the root of a workspace, has nothing to show.
    manifests.retain(|manifest| manifest.name.is_some() || !manifest.dependencies.is_empty());
    manifests.sort_by(|a, b| sources::order(a).cmp(&sources::order(b)));
    // Last, when the names of all packages and the primary manifests are known.
    link::link(&mut manifests);
    Dependencies {
        manifests,
        problems: sources.into_problems(),
    }
}

#[cfg(test)]
mod tests;
