//! The tree: what the checks look at, read once.
//!
//! Files are those that git tracks or would track, so that a rule holds before the first commit of
//! a file and never looks at build output. Packages are what `cargo metadata` says of the
//! workspace's own members; nothing is resolved and nothing is fetched.

use anyhow::{Context, Result, ensure};
use cargo_metadata::{DependencyKind, MetadataCommand};
use std::{io::ErrorKind, path::Path, process::Command};

/// The texts of the tracked files and the workspace's packages.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Text files, by path. Files that are not UTF-8 or hold a NUL are left out.
    pub(crate) files: Vec<File>,
    /// Members of the workspace, by name.
    pub(crate) packages: Vec<Package>,
}

/// A text file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Path from the root, with `/` between its parts.
    pub(crate) path: String,
    /// What it says.
    pub(crate) text: String,
}

/// A member of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its directory from the root, with `/` between its parts.
    pub(crate) directory: String,
    /// What its manifest asks for, other workspaces' packages included.
    pub(crate) dependencies: Vec<Dependency>,
    /// Its features: neither `default` nor those that only stand for an optional dependency.
    pub(crate) features: Vec<String>,
}

/// A dependency as a manifest states it.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    /// The package's name.
    pub(crate) name: String,
    /// What it is used for.
    pub(crate) usage: Usage,
}

/// What a dependency is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Usage {
    /// By the library or binary, or by its build script.
    Normal,
    /// By tests, examples and benches alone.
    Development,
}

impl Tree {
    /// Reads the tree below a directory.
    ///
    /// # Errors
    /// When git or cargo cannot be run there, or a file cannot be read.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        Ok(Self { files: load_files(root)?, packages: load_packages(root)? })
    }

    /// The file at a path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust sources.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// The package a path belongs to: the one with the longest directory above it.
    pub(crate) fn package_of(&self, path: &str) -> Option<&Package> {
        self.packages
            .iter()
            .filter(|package| is_below(path, &package.directory))
            .max_by_key(|package| package.directory.len())
    }
}

impl File {
    /// Line of the first line that a predicate holds for; 1 when there is none.
    pub(crate) fn line_where(&self, holds: impl FnMut(&str) -> bool) -> usize {
        self.text.lines().position(holds).map_or(1, |index| index + 1)
    }
}

impl Package {
    /// Path of its manifest.
    pub(crate) fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.directory)
    }
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// The text files that git tracks, or would if they were added.
fn load_files(root: &Path) -> Result<Vec<File>> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    let complaint = String::from_utf8_lossy(&listing.stderr);
    ensure!(listing.status.success(), "git ls-files failed: {complaint}");
    let mut paths: Vec<&str> = str::from_utf8(&listing.stdout)
        .context("a path is not UTF-8")?
        .split('\0')
        .filter(|path| !path.is_empty())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        match std::fs::read(root.join(path)) {
            Ok(bytes) if !bytes.contains(&0) => {
                if let Ok(text) = String::from_utf8(bytes) {
                    files.push(File { path: path.to_owned(), text });
                }
            }
            Ok(_) => {}
            // Tracked and removed, but not yet from the index; or a link to a directory.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => {
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        }
    }
    Ok(files)
}

fn load_packages(root: &Path) -> Result<Vec<Package>> {
    let metadata = MetadataCommand::new()
        .current_dir(root)
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .context("cannot read the workspace's manifests")?;
    let workspace = metadata.workspace_root.as_std_path();
    let mut packages = Vec::with_capacity(metadata.packages.len());
    for package in &metadata.packages {
        let directory = package
            .manifest_path
            .parent()
            .and_then(|directory| directory.as_std_path().strip_prefix(workspace).ok())
            .and_then(Path::to_str)
            .with_context(|| format!("{} lies outside the workspace", package.name))?;
        packages.push(Package {
            name: package.name.to_string(),
            directory: directory.replace('\\', "/"),
            dependencies: package.dependencies.iter().map(dependency).collect(),
            features: features(package),
        });
    }
    packages.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(packages)
}

fn dependency(stated: &cargo_metadata::Dependency) -> Dependency {
    let usage = match stated.kind {
        DependencyKind::Development => Usage::Development,
        _ => Usage::Normal,
    };
    Dependency { name: stated.name.clone(), usage }
}

/// Cargo lists an optional dependency `x` as a feature `x = ["dep:x"]`; that is no design of ours.
fn features(package: &cargo_metadata::Package) -> Vec<String> {
    let stands_for_dependency =
        |name: &str, enables: &[String]| matches!(enables, [one] if *one == format!("dep:{name}"));
    package
        .features
        .iter()
        .filter(|(name, enables)| *name != "default" && !stands_for_dependency(name, enables))
        .map(|(name, _)| name.clone())
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
