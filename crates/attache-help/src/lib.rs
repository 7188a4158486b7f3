//! Answers questions about attache from its own documentation, without a language model and without a network.
//!
//! The pages are part of the program. A question is answered with the sections that fit it best, quoted and named. The
//! search is BM25 over sections, their headings and their blocks (paragraphs, rows of tables), and nothing is indexed before
//! the first question. A page may help with words by which people ask for a section, in a comment below its heading:
//! `<!-- keywords: sign in, log in -->`.

mod answer;
mod excerpt;
mod index;
mod manual;
mod page;
mod search_query;
mod section;
mod words;

pub use manual::{FoundSection, Manual};
pub use page::Page;
