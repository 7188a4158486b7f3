//! A tree of files to search, the same on every machine.

use std::fs;
use std::path::Path;

use super::workbench::Workbench;

pub(super) const FILES: usize = 5000;
pub(super) const FILE_BYTES: usize = 12_000;
const FILES_IN_A_FOLDER: usize = 50;
/// Words that are searched for, and in how many files each of them stands.
pub(super) const KEYWORDS: usize = 40;
pub(super) const PLACES: usize = 5;

/// What is searched for; no word is the beginning of another.
pub(super) fn keyword(number: usize) -> String {
    format!("keyword_{number}_")
}

/// Makes the tree below `folder` and says where it is.
pub(super) fn write(folder: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("the tree to search: {error}");
    let root = folder.join("tree");
    let mut random = 1;
    for number in 0..FILES {
        let place = root.join(format!("part_{:03}/src", number / FILES_IN_A_FOLDER));
        if number % FILES_IN_A_FOLDER == 0 {
            fs::create_dir_all(&place).map_err(failed)?;
        }
        fs::write(place.join(format!("file_{number:04}.rs")), content(number, &mut random))
            .map_err(failed)?;
    }
    fs::write(root.join(".gitignore"), "/target\n*.log\n").map_err(failed)?;
    fs::write(root.join("line.txt"), Workbench::LINE).map_err(failed)?;
    Ok(root.to_string_lossy().into_owned())
}

/// Lines of words and brackets; in the middle of some files, one keyword.
fn content(number: usize, random: &mut u64) -> String {
    let mut text = String::with_capacity(FILE_BYTES + 100);
    let stride = FILES / (KEYWORDS * PLACES);
    let mut hidden = number.is_multiple_of(stride).then(|| keyword(number / stride % KEYWORDS));
    while text.len() < FILE_BYTES {
        if text.len() > FILE_BYTES / 2
            && let Some(keyword) = hidden.take()
        {
            text.push_str("    let ");
            text.push_str(&keyword);
            text.push_str(" = 1;\n");
        }
        text.push_str("    ");
        for _ in 0..50 {
            // A plain linear congruential generator.
            *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push(LETTERS[((*random >> 33) % LETTERS.len() as u64) as usize] as char);
        }
        text.push('\n');
    }
    text
}

/// As often as they are in programs, roughly.
const LETTERS: &[u8] =
    b"eeeeeeettttttaaaaoooossssiiiinnnnrrrrllllccccdddduuummmppphhhggffbbyyvvkkwwxz_____()()..,;:=      ES";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_stands_in_as_many_files() {
        let mut random = 1;
        let mut found = [0; KEYWORDS];
        for number in 0..FILES {
            if number % (FILES / (KEYWORDS * PLACES)) != 0 {
                continue;
            }
            let text = content(number, &mut random);
            for (keyword_number, found) in found.iter_mut().enumerate() {
                *found += text.matches(&keyword(keyword_number)).count();
            }
        }
        assert_eq!(found, [PLACES; KEYWORDS]);
    }
}
