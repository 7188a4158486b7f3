//! A step with several chunks: split once, then played any number of times.

use std::time::Duration;

use attache_domain::{Artifact, ArtifactId, Metadata, Part, PartContent};

use super::limits::{MAX_CHUNKS, MAX_LABEL_BYTES, MAX_REPEAT, MAX_TEXT_BYTES};
use super::placeholder_values::PlaceholderValues;
use super::rule::{ArtifactStep, ContentTemplate, Pace, PartTemplate, Split, TextStep};
use super::run::{ScriptAction, encode};
use super::template::{Template, expand_map};
use crate::ModelChunk;

#[derive(Debug)]
pub(super) struct ChunkSequence {
    pieces: Pieces,
    /// The number of chunks of the step, and the number of those already emitted.
    total: u64,
    given: u64,
    every: Duration,
    /// The wait before the next chunk is over.
    waited: bool,
}

#[derive(Debug)]
enum Pieces {
    Texts(Vec<String>),
    Artifact { id: ArtifactId, face: Box<ArtifactHeader>, pieces: Vec<Vec<Part>>, append: bool, last: bool },
}

/// The members that only the first piece of an artifact has.
#[derive(Debug, Default)]
struct ArtifactHeader {
    name: Option<String>,
    description: Option<String>,
    metadata: Option<Metadata>,
    extensions: Vec<String>,
}

impl ChunkSequence {
    pub(super) fn of_say(say: &TextStep, words: &PlaceholderValues) -> Result<Self, String> {
        let expand = |template: &Template| template.expand(words, MAX_TEXT_BYTES);
        let texts = match (&say.split, say.texts.as_slice()) {
            (Split::Whole, texts) => texts.iter().map(expand).collect(),
            (split, texts) => {
                let text: String = texts.iter().map(expand).collect();
                cut_text(&text, &splitter(split, words)?)
            }
        };
        Self::new(Pieces::Texts(texts), &say.pace, words)
    }

    /// `number` names an artifact whose step does not.
    pub(super) fn of_artifact(
        step: &ArtifactStep,
        words: &PlaceholderValues,
        number: usize,
    ) -> Result<Self, String> {
        let label = |template: &Template| template.expand(words, MAX_LABEL_BYTES);
        let id = match &step.id {
            Some(id) => label(id),
            None => format!("artifact-{}-{number}", words.turn),
        };
        let face = ArtifactHeader {
            name: step.name.as_ref().map(label),
            description: step.description.as_ref().map(label),
            metadata: step.metadata.as_ref().map(|entries| expand_map(entries, words, MAX_TEXT_BYTES)),
            extensions: step.extensions.clone(),
        };
        let pieces = match (&step.split, step.parts.as_slice()) {
            (split @ (Split::Chunks(_) | Split::Size(_)), [part]) => {
                cut_part(part, &splitter(split, words)?, words)
            }
            (_, parts) => vec![parts.iter().map(|part| part.expand(words)).collect()],
        };
        let pieces = Pieces::Artifact {
            id: id.into(),
            face: Box::new(face),
            pieces,
            append: step.append,
            last: step.last,
        };
        Self::new(pieces, &step.pace, words)
    }

    fn new(pieces: Pieces, pace: &Pace, words: &PlaceholderValues) -> Result<Self, String> {
        let repeat = pace.repeat.resolve(words, "repeat", (0, MAX_REPEAT))?;
        let every = match &pace.every {
            Some(every) => every.resolve(words, "every")?,
            None => Duration::ZERO,
        };
        let total = u64::from(repeat) * pieces.len() as u64;
        Ok(Self { pieces, total, given: 0, every, waited: false })
    }

    /// `None` when the step is done.
    pub(super) fn next_action(&mut self) -> Option<ScriptAction> {
        if self.given == self.total {
            return None;
        }
        if self.given > 0 && !self.waited && !self.every.is_zero() {
            self.waited = true;
            return Some(ScriptAction::Wait(self.every));
        }
        self.waited = false;
        let (first, last) = (self.given == 0, self.given + 1 == self.total);
        let index = (self.given % self.pieces.len() as u64) as usize;
        let last_time = self.total - self.given <= self.pieces.len() as u64;
        self.given += 1;
        Some(ScriptAction::Chunk(self.pieces.chunk(index, last_time, first, last)))
    }
}

impl Pieces {
    fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Artifact { pieces, .. } => pieces.len(),
        }
    }

    /// Moves a piece that is not needed again instead of copying it.
    fn chunk(&mut self, index: usize, last_time: bool, is_first: bool, is_last: bool) -> ModelChunk {
        match self {
            Self::Texts(texts) => ModelChunk::Text(take_or_copy(&mut texts[index], last_time)),
            Self::Artifact { id, face, pieces, append, last } => {
                let face = std::mem::take(&mut **face);
                let artifact = Artifact {
                    id: id.clone(),
                    name: face.name,
                    description: face.description,
                    parts: take_or_copy(&mut pieces[index], last_time),
                    metadata: face.metadata,
                    extensions: face.extensions,
                };
                ModelChunk::Artifact { artifact, append: *append || !is_first, last: *last && is_last }
            }
        }
    }
}

fn take_or_copy<T: Clone + Default>(value: &mut T, take: bool) -> T {
    if take { std::mem::take(value) } else { value.clone() }
}

/// How a length is split, with the numbers known.
enum Splitter {
    Even(usize),
    Size(usize),
}

fn splitter(split: &Split, words: &PlaceholderValues) -> Result<Splitter, String> {
    match split {
        Split::Whole => Ok(Splitter::Even(1)),
        Split::Chunks(count) => Ok(Splitter::Even(count.resolve(words, "chunks", (1, MAX_CHUNKS))? as usize)),
        Split::Size(size) => Ok(Splitter::Size(size.resolve(words, "chunk_size", (1, u32::MAX))? as usize)),
    }
}

impl Splitter {
    /// The ends of the pieces of something `length` long. At least one piece; no piece is empty unless it is the only
    /// one.
    fn ends(&self, length: usize) -> Vec<usize> {
        match *self {
            Self::Even(pieces) => {
                let pieces = pieces.min(length).max(1);
                (1..=pieces).map(|piece| length * piece / pieces).collect()
            }
            Self::Size(size) => {
                let size = size.max(length.div_ceil(MAX_CHUNKS as usize));
                let pieces = length.div_ceil(size).max(1);
                (1..=pieces).map(|piece| (size * piece).min(length)).collect()
            }
        }
    }
}

fn cut_text(text: &str, cutter: &Splitter) -> Vec<String> {
    let mut rest = text;
    let mut done = 0;
    let mut pieces = Vec::new();
    for end in cutter.ends(text.chars().count()) {
        let bytes = rest.char_indices().nth(end - done).map_or(rest.len(), |(place, _)| place);
        let (piece, tail) = rest.split_at(bytes);
        pieces.push(piece.to_owned());
        (rest, done) = (tail, end);
    }
    pieces
}

fn cut_bytes(bytes: &[u8], cutter: &Splitter) -> Vec<PartContent> {
    let mut start = 0;
    let ends = cutter.ends(bytes.len()).into_iter();
    ends.map(|end| PartContent::Raw(encode(&bytes[std::mem::replace(&mut start, end)..end]))).collect()
}

fn cut_part(part: &PartTemplate, cutter: &Splitter, words: &PlaceholderValues) -> Vec<Vec<Part>> {
    let contents = match &part.content {
        ContentTemplate::Text(text) => {
            let text = text.expand(words, MAX_TEXT_BYTES);
            cut_text(&text, cutter).into_iter().map(PartContent::Text).collect()
        }
        ContentTemplate::BytesText(text) => cut_bytes(text.expand(words, MAX_TEXT_BYTES).as_bytes(), cutter),
        ContentTemplate::Bytes(bytes) => cut_bytes(bytes, cutter),
        // Refused when the script is loaded: these cannot be split.
        ContentTemplate::Url(_) | ContentTemplate::Data(_) => return vec![vec![part.expand(words)]],
    };
    contents.into_iter().map(|content| vec![part.with_content(content, words)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, cutter: Splitter, expected: &[&str]) {
        assert_eq!(cut_text(text, &cutter), expected);
    }

    #[test]
    fn a_text_is_cut_between_characters_and_into_no_empty_piece() {
        check("abcdef", Splitter::Even(3), &["ab", "cd", "ef"]);
        check("abcde", Splitter::Even(3), &["a", "bc", "de"]);
        check("äöü", Splitter::Even(2), &["ä", "öü"]);
        check("ab", Splitter::Even(9), &["a", "b"]);
        check("", Splitter::Even(4), &[""]);
        check("abcde", Splitter::Size(2), &["ab", "cd", "e"]);
        check("", Splitter::Size(2), &[""]);
    }

    #[test]
    fn a_tiny_size_gives_no_more_than_the_most_chunks() {
        let text = "x".repeat(25_000);
        let pieces = cut_text(&text, &Splitter::Size(1));
        assert!(pieces.len() <= MAX_CHUNKS as usize);
        assert_eq!(pieces.concat(), text);
    }
}
