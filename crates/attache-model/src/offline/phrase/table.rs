//! The table of phrases and their actions.

use super::builders::*;

pub(super) const TABLE: &[(&str, ActionBuilder)] = &[
    // Reading comes before listing: both match "the contents of".
    ("{show}{me} (?:the )?contents? of {the file}{end}", read_what_looks_like_a_file),
    (
        "{show}{me} (?:the )?lines? {number}(?:{to}(?<last>[0-9]{1,6}))? (?:of|in|from) {the file}{end}",
        read_lines,
    ),
    ("{show}{me} (?:the )?first (?<last>[0-9]{1,6}) lines? (?:of|in|from) {the file}{end}", read_lines),
    // Listing.
    (
        "(?:list|{show}){me} (?:all )?(?:of )?(?:the |my )?{files}(?: there| here)?(?: {in}{the folder})?{end}",
        list,
    ),
    ("(?:list|show|open){me} (?:the )?(?:folder|directory) {folder}{end}", list),
    ("{which files} (?:are|exist|do (?:you|we|i) have)(?: there| here)?(?: {in}{the folder})?{end}", list),
    // Files by name.
    (
        "(?:find|search for|look for|locate|list|show){me} (?:all )?(?:the )?files? (?:that are )?\
         (?:named|called|matching|like|with the name) {pattern}(?: {in}{the folder})?{end}",
        find,
    ),
    // Text in files.
    (
        "(?:find|show|list){me} (?:all )?(?:the )?(?:(?:text|string|word|phrase) |lines? (?:with|containing) |\
         (?:files? )?(?:containing|that (?:contain|mention|use)) ){the text}{text}{anywhere}{end}",
        search,
    ),
    ("{which files} (?:contain|mention|use|have) {the text}{text}{anywhere}{end}", search),
    ("where is {text} (?:used|mentioned|defined|called){end}", search),
    (
        "(?:search|grep|look) (?:in |through |inside )?(?:all )?(?:the |my )?(?:folder |directory |file )?{folder} \
         for {the text}{text}{end}",
        search,
    ),
    ("(?:search for|grep for|look for|search|grep) {the text}{text}{anywhere}{end}", search),
    // Files by name again, with weaker patterns.
    (
        "(?:find|locate){me} (?:all )?(?:the |my )?(?:files? )?{pattern}(?<of_files> files?)?(?: {in}{the folder})?{end}",
        find,
    ),
    ("where(?:'s| is) (?:the )?(?<kind>file )?{pattern}{end}", find_what_looks_like_a_file),
    // Reading and listing by name alone.
    ("(?:read|cat){me} {the file}{end}", read),
    ("(?:{show}|look at){me} {the file}{end}", read_what_looks_like_a_file),
    ("what does {the file} (?:say|contain){end}", read_what_looks_like_a_file),
    ("{what is} (?:the )?file {file}{end}", read),
    ("{what is} (?:the )?(?:folder|directory) {folder}{end}", list),
    ("{what is} (?:the )?{file}{end}", read_what_looks_like_a_file),
    ("{what is} {the folder}{end}", list),
    ("(?:list|ls)(?: {folder})?{end}", list),
    // Adding. A block after "to FILE:" comes first, because its text may contain "to".
    ("(?:append|add) (?:the following )?(?:to|at) {the end of}{the file}(?: )?:{block}", append),
    (
        "(?:append|add) (?:(?:the|a|this) (?:new )?(?:line|text):? (?:saying )?|line:? )?{anything} \
         (?:to|at|onto) {the end of}{the file}{end}",
        append,
    ),
    // Writing.
    (
        "{create}{me} {a file}(?:,? (?:with|containing|that contains|that says|that reads|which says|saying)\
         (?: (?:the )?contents?| the (?:text|line))?\\b:?|(?: )?:){block}",
        write,
    ),
    ("{create}{me} {a file}\\s+(?<text>```(?s:.+)```)\\s*$", write),
    ("(?:create|make) {a file},? and (?:then )?(?:write|put) {anything} (?:in|into|to) it{end}", write),
    ("(?:write|put|save|store) {anything} (?:to|into|in|as) {a file}{end}", write),
    // Editing.
    ("(?:replace|substitute) {all}{thing}{old} (?:with|by) {thing}{new} {in}{the file}{end}", replace),
    ("(?:change|turn|rename) {all}{thing}{old} (?:to|into) {thing}{new} {in}{the file}{end}", replace),
    (
        "(?:replace|substitute|change|swap) {all}{thing}{old} (?:with|by|to|into|for) {thing}{new} {in}{the file}{end}",
        replace,
    ),
    (
        "(?:in|edit) {the file}[,:]? (?:and )?(?:replace|substitute|change) {all}{thing}{old} \
         (?:with|by|to|into) {thing}{new}\\s*$",
        replace,
    ),
    // Commands.
    ("{run}(?: (?:(?:the|this) )?(?:shell )?command)?:? (?<command>`[^`\\n]+`) in {the folder}{end}", run),
    ("{run}(?: (?:(?:the|this)(?: following)? )?(?:shell )?command)?:?\\s+(?<command>(?s:.+))$", run),
];
