//! The kernels' sources and the line that ties PTX to them.

use super::nvrtc::{OPTIONS, VERSION};
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// One `.cu` file and the hash of all that its PTX depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    /// The file's name without its ending.
    pub(super) name: String,
    hash: String,
}

const MARK: &str = "// made by `cargo xtask kernels` from sources with sha256 ";

impl Kernel {
    pub(super) fn ptx_path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.ptx", self.name))
    }

    /// PTX with the line before it.
    pub(super) fn sign(&self, ptx: &str) -> String {
        format!("{MARK}{}\n{ptx}", self.hash)
    }

    /// Whether the text's first line is this kernel's.
    pub(super) fn has_signed(&self, text: &str) -> bool {
        text.lines().next().and_then(|line| line.strip_prefix(MARK)) == Some(&self.hash)
    }
}

/// The kernels of a folder, by name.
pub(super) fn read(folder: &Path) -> Result<Vec<Kernel>> {
    let headers = files(folder, "cuh")?;
    let hash = |name: &str, text: &str| {
        // Any header may be included by any other: each kernel depends on all.
        let mut hasher = Sha256::new();
        let own = [("compiler", VERSION), ("options", &*OPTIONS.join(" ")), (name, text)]
            .map(|(name, text)| (name.to_owned(), text.to_owned()));
        for (name, text) in own.iter().chain(&headers) {
            // Lengths keep one text from running into the next.
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        }
        hasher.finalize().iter().fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    };
    let kernels = files(folder, "cu")?.into_iter().map(|(file, text)| {
        let hash = hash(&file, &text);
        Kernel { name: file.trim_end_matches(".cu").to_owned(), hash }
    });
    Ok(kernels.collect())
}

/// Names and texts of the files with an ending, by name.
fn files(folder: &Path, ending: &str) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == ending) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            files.push((name, text));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_kernel_or_a_header_changes_the_hash() {
        let folder = std::env::temp_dir().join(format!("formwork-kernels-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("a.cu", "a");
        write("b.cu", "b");
        write("c.cuh", "c");
        write("a.ptx", "not a source");
        let first = read(&folder).unwrap();
        assert_eq!(first.iter().map(|kernel| &*kernel.name).collect::<Vec<_>>(), ["a", "b"]);
        assert!(first[0].has_signed(&first[0].sign("x")));
        assert!(!first[0].has_signed(&first[1].sign("x")) && !first[0].has_signed("x"));
        write("a.cu", "aa");
        let second = read(&folder).unwrap();
        assert_ne!(second[0], first[0]);
        assert_eq!(second[1], first[1]);
        write("c.cuh", "cc");
        let third = read(&folder).unwrap();
        assert!(third[0] != second[0] && third[1] != second[1]);
        fs::remove_dir_all(folder).unwrap();
    }
}
