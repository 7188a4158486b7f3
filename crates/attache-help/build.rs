//! Lists the pages of the documentation, so that each of them becomes part of the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[expect(clippy::disallowed_methods, reason = "how cargo tells build scripts where to read and write")]
fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let root = variable("CARGO_MANIFEST_DIR")?.join("../..").canonicalize()?;
    let mut pages = vec![root.join("README.md")];
    find(&root.join("docs"), &mut pages)?;
    pages.sort();
    let mut list = String::from("&[\n");
    for page in &pages {
        println!("cargo::rerun-if-changed={}", page.display());
        let name = page.strip_prefix(&root).unwrap_or(page).display().to_string();
        writeln!(list, "({name:?}, include_str!({:?})),", page.display().to_string())
            .map_err(io::Error::other)?;
    }
    list.push(']');
    fs::write(variable("OUT_DIR")?.join("pages.rs"), list)
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
