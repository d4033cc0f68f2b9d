//! The part of `cargo metadata` that the tasks need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command::{cargo, output_of};

/// Every package that some platform and feature of the workspace needs.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
    workspace_members: BTreeSet<String>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) manifest_path: String,
    dependencies: Vec<Declared>,
}

#[derive(Debug, Deserialize)]
struct Declared {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

/// A dependency as the depending package's code names it.
#[derive(Debug, Deserialize)]
pub(crate) struct Edge {
    #[serde(rename = "name")]
    pub(crate) identifier: String,
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    kind: Option<Kind>,
}

/// Which code of a package may use a dependency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) enum Kind {
    #[default]
    Normal,
    #[serde(rename = "dev")]
    Development,
    #[serde(rename = "build")]
    Build,
}

/// A workspace package with the workspace packages that it names in its manifest.
pub(crate) type Arrows = BTreeMap<String, BTreeSet<String>>;

impl Metadata {
    pub(crate) fn load() -> Result<Self> {
        let arguments = ["metadata", "--format-version", "1", "--all-features"];
        let json = output_of(cargo().args(arguments))?;
        serde_json::from_str(&json).context("could not read what `cargo metadata` wrote")
    }

    /// The packages of this project.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        let is_member = |package: &&Package| self.workspace_members.contains(&package.id);
        self.packages.iter().filter(is_member)
    }

    /// The packages of others that end up in some build of this one.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &Package> {
        let used: BTreeSet<&str> = self.resolve.nodes.iter().map(|n| n.id.as_str()).collect();
        self.packages.iter().filter(move |package| {
            used.contains(package.id.as_str()) && !self.workspace_members.contains(&package.id)
        })
    }

    pub(crate) fn arrows(&self) -> Arrows {
        let names: BTreeSet<&str> = self.members().map(|member| member.name.as_str()).collect();
        let targets = |member: &Package| {
            let declared = member.dependencies.iter().map(|d| d.name.clone());
            declared.filter(|d| names.contains(d.as_str())).collect()
        };
        self.members()
            .map(|member| (member.name.clone(), targets(member)))
            .collect()
    }

    /// The direct dependencies of `package`, once for each kind.
    pub(crate) fn dependencies_of(&self, package: &Package) -> Vec<(&Edge, Kind)> {
        let node = self.resolve.nodes.iter().find(|n| n.id == package.id);
        let mut dependencies = Vec::new();
        for edge in node.iter().flat_map(|node| &node.deps) {
            let kinds = edge.dep_kinds.iter().map(|k| k.kind.unwrap_or_default());
            let kinds: BTreeSet<Kind> = kinds.collect();
            dependencies.extend(kinds.into_iter().map(|kind| (edge, kind)));
        }
        dependencies
    }

    /// The name under which a dependency is declared.
    pub(crate) fn package_name<'a>(&'a self, edge: &'a Edge) -> &'a str {
        let package = self.packages.iter().find(|package| package.id == edge.pkg);
        package.map_or(edge.identifier.as_str(), |package| package.name.as_str())
    }
}
