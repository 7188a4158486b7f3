//! Compresses the pages of the documentation, which become part of the program: a third of their size.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

#[expect(clippy::disallowed_methods, reason = "how cargo tells build scripts where to read and write")]
fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let root = variable("CARGO_MANIFEST_DIR")?.join("../..").canonicalize()?;
    let mut pages = vec![root.join("README.md")];
    find(&root.join("docs"), &mut pages)?;
    pages.sort();
    // Names and lengths; the texts follow each other.
    let mut list = String::from("&[\n");
    let mut texts = DeflateEncoder::new(Vec::new(), Compression::best());
    for page in &pages {
        println!("cargo::rerun-if-changed={}", page.display());
        let name = page.strip_prefix(&root).unwrap_or(page).display().to_string();
        let text = fs::read_to_string(page)?;
        list.push_str(&format!("({name:?}, {}),\n", text.len()));
        texts.write_all(text.as_bytes())?;
    }
    list.push(']');
    let out = variable("OUT_DIR")?;
    fs::write(out.join("pages.rs"), list)?;
    fs::write(out.join("pages.deflate"), texts.finish()?)
}

fn find(folder: &Path, pages: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    Ok(())
}
