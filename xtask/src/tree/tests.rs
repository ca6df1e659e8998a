//! Trees made up in memory, for the checks' tests; and loading from a directory.

use super::*;

/// A tree of files, without packages.
pub(crate) fn files(files: &[(&str, &str)]) -> Tree {
    let file = |&(path, text): &(&str, &str)| File { path: path.to_owned(), text: text.to_owned() };
    Tree { files: files.iter().map(file).collect(), packages: Vec::new() }
}

/// A package without dependencies or features.
pub(crate) fn package(name: &str, directory: &str) -> Package {
    Package {
        name: name.to_owned(),
        directory: directory.to_owned(),
        dependencies: Vec::new(),
        features: Vec::new(),
    }
}

/// The same package with one more dependency.
pub(crate) fn with_dependency(mut package: Package, name: &str, usage: Usage) -> Package {
    package.dependencies.push(Dependency { name: name.to_owned(), usage });
    package
}

/// A directory of its own that is removed in the end.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("formwork-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning of its temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn loading_reads_text_files_that_are_not_ignored_and_the_members() {
    let scratch = Scratch::new("tree");
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(&scratch.0).status();
    assert!(git.unwrap().success());
    scratch.write(".gitignore", b"/target\n");
    scratch.write("target/out.txt", b"ignored");
    scratch.write("table.bin", b"\0\x01");
    scratch.write("latin.txt", b"caf\xe9");
    scratch.write("Cargo.toml", b"[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\"]\n");
    scratch.write("a/src/lib.rs", b"//! A.\n");
    scratch.write("b/src/lib.rs", b"//! B.\n");
    scratch.write("b/Cargo.toml", b"[package]\nname = \"b\"\nedition = \"2024\"\n");
    scratch.write(
        "a/Cargo.toml",
        b"[package]\nname = \"a\"\nedition = \"2024\"\n\
          [dependencies]\nb = { path = \"../b\", optional = true }\n\
          [dev-dependencies]\nb = { path = \"../b\" }\n\
          [features]\ndefault = [\"x\"]\nx = []\nb = [\"dep:b\"]\n",
    );
    let tree = Tree::load(&scratch.0).unwrap();
    let paths: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
    let expected = [
        ".gitignore",
        "Cargo.toml",
        "a/Cargo.toml",
        "a/src/lib.rs",
        "b/Cargo.toml",
        "b/src/lib.rs",
    ];
    assert_eq!(paths, expected);
    let [a, b] = &tree.packages[..] else { panic!("{:?}", tree.packages) };
    assert_eq!((a.name.as_str(), a.directory.as_str(), b.directory.as_str()), ("a", "a", "b"));
    assert_eq!(a.features, ["x"]);
    let mut usages: Vec<Usage> = a.dependencies.iter().map(|dependency| dependency.usage).collect();
    usages.sort();
    assert_eq!(usages, [Usage::Normal, Usage::Development]);
}

#[test]
fn a_directory_without_git_is_an_error() {
    let scratch = Scratch::new("bare");
    let outside = Command::new("git")
        .args(["rev-parse", "--git-dir"])
        .current_dir(&scratch.0)
        .output()
        .unwrap();
    if !outside.status.success() {
        assert!(load_files(&scratch.0).unwrap_err().to_string().contains("git ls-files"));
    }
}

#[test]
fn a_path_belongs_to_the_innermost_package() {
    let mut tree = files(&[]);
    tree.packages = vec![package("outer", "crates/a"), package("inner", "crates/a/fuzz")];
    let owner = |path| tree.package_of(path).map(|package| package.name.as_str());
    assert_eq!(owner("crates/a/src/lib.rs"), Some("outer"));
    assert_eq!(owner("crates/a/fuzz/src/lib.rs"), Some("inner"));
    assert_eq!(owner("crates/ab/src/lib.rs"), None);
}
