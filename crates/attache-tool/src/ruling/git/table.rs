//! The options of git's reading subcommands, and the values that each takes.
//!
//! Options that are missing here run a program, write or read a file, or were not examined: they need approval.

/// The options of one subcommand. Names are separated by blanks.
pub(super) struct OptionTable {
    /// The subcommand, and the subcommand of that.
    pub(super) name: &'static [&'static str],
    /// Letters without a value.
    pub(super) short: &'static str,
    /// Letters with a value, joined or as the next word.
    pub(super) short_valued: &'static str,
    /// Letters with a value that can only be joined.
    pub(super) short_optional: &'static str,
    pub(super) long: &'static [&'static str],
    /// Followed by `=` and a value, or by the value as the next word.
    pub(super) long_valued: &'static [&'static str],
    /// With or without `=` and a value.
    pub(super) long_optional: &'static [&'static str],
    /// Whether `-5` means a number.
    pub(super) numbers: bool,
    pub(super) operands: Operands,
}

/// Which operands are allowed.
#[derive(Clone, Copy)]
pub(super) enum Operands {
    Any,
    None,
    /// Only after one of these: without them a name creates something.
    Behind(&'static str),
}

const EMPTY: OptionTable = OptionTable {
    name: &[],
    short: "",
    short_valued: "",
    short_optional: "",
    long: &[],
    long_valued: &[],
    long_optional: &[],
    numbers: false,
    operands: Operands::Any,
};

const DIFF: &str = "--patch --no-patch --raw --patch-with-raw --minimal --patience --histogram --compact-summary \
    --numstat --shortstat --cumulative --summary --patch-with-stat --name-only --name-status --no-color \
    --no-color-moved --no-renames --check --full-index --binary --find-copies-harder --irreversible-delete \
    --pickaxe-all --pickaxe-regex --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol \
    --ignore-space-change --ignore-all-space --ignore-blank-lines --function-context --exit-code --quiet \
    --no-ext-diff --no-textconv --no-prefix --default-prefix --indent-heuristic --no-indent-heuristic \
    --ita-invisible-in-index --ita-visible-in-index";
const DIFF_VALUED: &str = "--unified --diff-algorithm --anchored --ws-error-highlight --diff-filter --inter-hunk-context \
    --src-prefix --dst-prefix --line-prefix --word-diff-regex --find-object --stat-width --stat-name-width \
    --stat-count --stat-graph-width";
const DIFF_OPTIONAL: &str = "--stat --dirstat --color --color-moved --color-words --word-diff --abbrev --relative \
    --ignore-submodules --find-renames --find-copies --break-rewrites";
const LOG: &str = "--follow --no-decorate --source --use-mailmap --no-mailmap --mailmap --full-diff --log-size \
    --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp \
    --remove-empty --merges --no-merges --no-min-parents --no-max-parents --first-parent \
    --exclude-first-parent-only --not --all --reflog --ignore-missing --bisect --cherry-mark --cherry-pick \
    --left-only --right-only --cherry --walk-reflogs --merge --boundary --simplify-by-decoration --full-history \
    --dense --sparse --simplify-merges --show-pulls --date-order --author-date-order --topo-order --reverse \
    --do-walk --abbrev-commit --no-abbrev-commit --oneline --no-notes --relative-date --parents --children \
    --left-right --graph --no-graph --cc --clear-decorations --combined-all-paths --no-diff-merges";
const LOG_VALUED: &str = "--max-count --skip --since --since-as-filter --after --until --before --author --committer \
    --grep --grep-reflog --min-parents --max-parents --glob --exclude --date --encoding --decorate-refs \
    --decorate-refs-exclude";
/// These take their value only after `=`.
const LOG_OPTIONAL: &str = "--decorate --branches --tags --remotes --no-walk --pretty --format --notes --show-notes \
    --ancestry-path --diff-merges --show-linear-break --expand-tabs";
const LIST: &str =
    "--list --ignore-case --no-color --no-column --contains --no-contains --merged --no-merged";
const LISTING: &str = "--list --contains --no-contains --merged --no-merged --points-at";

const SHOWN: OptionTable = OptionTable {
    short: "psuzabwRWDcmrtigEFPBMC",
    short_valued: "SGlnUL",
    short_optional: "XBMC",
    long: &[DIFF, LOG],
    long_valued: &[DIFF_VALUED, LOG_VALUED],
    long_optional: &[DIFF_OPTIONAL, LOG_OPTIONAL],
    numbers: true,
    ..EMPTY
};

pub(super) const TABLES: &[OptionTable] = &[
    OptionTable { name: &["log"], ..SHOWN },
    OptionTable { name: &["show"], ..SHOWN },
    OptionTable { name: &["reflog", "show"], ..SHOWN },
    OptionTable { name: &["reflog"], operands: Operands::None, ..SHOWN },
    OptionTable { name: &["stash", "list"], ..SHOWN },
    OptionTable { name: &["stash", "show"], ..DIFFERENCE },
    OptionTable { name: &["diff"], ..DIFFERENCE },
    OptionTable {
        name: &["status"],
        short: "sbvz",
        short_optional: "u",
        long: &[
            "--short --branch --show-stash --long --verbose --no-column --ahead-behind --no-ahead-behind \
            --renames --no-renames --null",
        ],
        long_optional: &[
            "--porcelain --untracked-files --ignore-submodules --ignored --column --find-renames",
        ],
        ..EMPTY
    },
    OptionTable {
        name: &["branch"],
        short: "avrqi",
        long: &[LIST, "--show-current --all --remotes --verbose --quiet --no-abbrev --omit-empty"],
        long_valued: &["--sort --format --points-at"],
        long_optional: &["--color --column --abbrev"],
        operands: Operands::Behind(LISTING),
        ..EMPTY
    },
    OptionTable {
        name: &["tag"],
        short: "i",
        short_optional: "n",
        long: &[LIST, "--omit-empty"],
        long_valued: &["--sort --format --points-at"],
        long_optional: &["--color --column"],
        operands: Operands::Behind(LISTING),
        ..EMPTY
    },
    OptionTable {
        name: &["rev-parse"],
        short: "q",
        long: &[
            "--verify --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup \
            --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir \
            --is-bare-repository --is-shallow-repository --show-superproject-working-tree --all --revs-only \
            --no-revs --flags --no-flags",
        ],
        long_optional: &["--abbrev-ref --short --branches --tags --remotes --show-object-format"],
        ..EMPTY
    },
    OptionTable {
        name: &["ls-files"],
        short: "cdmoisuktvfz",
        short_valued: "x",
        long: &["--cached --deleted --modified --others --ignored --stage --directory --no-empty-directory \
            --unmerged --killed --error-unmatch --full-name --exclude-standard --eol --deduplicate"],
        long_valued: &["--exclude --format"],
        long_optional: &["--abbrev"],
        ..EMPTY
    },
    OptionTable {
        name: &["ls-tree"],
        short: "drtlz",
        long: &["--name-only --name-status --full-name --full-tree --long --object-only"],
        long_valued: &["--format"],
        long_optional: &["--abbrev"],
        ..EMPTY
    },
    OptionTable {
        name: &["blame"],
        short: "bselftnpwcMC",
        short_valued: "L",
        short_optional: "MC",
        long: &["--line-porcelain --porcelain --incremental --root --show-stats --show-email --show-name \
            --show-number --score-debug --color-lines --color-by-age --minimal --no-progress"],
        long_valued: &["--since --ignore-rev --date"],
        long_optional: &["--abbrev"],
        ..EMPTY
    },
    OptionTable {
        name: &["describe"],
        long: &["--all --tags --contains --exact-match --long --always --first-parent"],
        long_valued: &["--candidates --match --exclude"],
        long_optional: &["--abbrev --dirty --broken"],
        ..EMPTY
    },
    OptionTable {
        name: &["shortlog"],
        short: "nsec",
        long: &["--numbered --summary --email --committer --all --merges --no-merges --first-parent"],
        long_valued: &["--group --since --after --until --before --author --grep --max-count"],
        long_optional: &["--format --branches --tags --remotes"],
        numbers: true,
        ..EMPTY
    },
    OptionTable {
        name: &["rev-list"],
        short: "iEFP",
        short_valued: "n",
        long: &[LOG, "--count --objects --no-object-names --no-commit-header"],
        long_valued: &[LOG_VALUED],
        long_optional: &[LOG_OPTIONAL, "--header --timestamp --abbrev"],
        numbers: true,
        ..EMPTY
    },
    OptionTable { name: &["remote", "get-url"], long: &["--push --all"], ..EMPTY },
    OptionTable { name: &["remote"], short: "v", long: &["--verbose"], operands: Operands::None, ..EMPTY },
    OptionTable {
        name: &["worktree", "list"],
        short: "vz",
        long: &["--porcelain --verbose"],
        operands: Operands::None,
        ..EMPTY
    },
    OptionTable { name: &["cat-file"], short: "tsep", ..EMPTY },
    OptionTable {
        name: &["grep"],
        short: "niwvlLchHrEGFPoqaIWpz",
        short_valued: "eABCm",
        long: &["--line-number --ignore-case --word-regexp --invert-match --files-with-matches --name-only \
            --files-without-match --count --full-name --extended-regexp --basic-regexp --fixed-strings \
            --perl-regexp --only-matching --quiet --text --column --heading --break --no-color --and --or --not \
            --all-match --cached --untracked --function-context --show-function --no-textconv --null --recursive \
            --no-recursive --exclude-standard"],
        long_valued: &["--after-context --before-context --context --max-count --max-depth"],
        long_optional: &["--color"],
        ..EMPTY
    },
    OptionTable {
        name: &["merge-base"],
        short: "a",
        long: &["--all --octopus --independent --is-ancestor --fork-point"],
        ..EMPTY
    },
    OptionTable {
        name: &["for-each-ref"],
        short: "i",
        long: &["--ignore-case --contains --no-contains --merged --no-merged --omit-empty"],
        long_valued: &["--count --sort --format --points-at --exclude"],
        long_optional: &["--color"],
        ..EMPTY
    },
    OptionTable {
        name: &["show-ref"],
        short: "dqs",
        long: &["--heads --branches --tags --head --dereference --verify --quiet"],
        long_optional: &["--hash --abbrev"],
        ..EMPTY
    },
    OptionTable {
        name: &["count-objects"],
        short: "vH",
        long: &["--verbose --human-readable"],
        operands: Operands::None,
        ..EMPTY
    },
    OptionTable {
        name: &["check-ignore"],
        short: "vqnz",
        long: &["--verbose --quiet --non-matching"],
        ..EMPTY
    },
    OptionTable { name: &["version"], long: &["--build-options"], operands: Operands::None, ..EMPTY },
];

const DIFFERENCE: OptionTable = OptionTable {
    short: "psuzabwRWDcmrtiMCB0123",
    short_valued: "SGlU",
    long: &[DIFF, "--cached --staged --merge-base --base --ours --theirs --cc"],
    long_valued: &[DIFF_VALUED],
    long_optional: &[DIFF_OPTIONAL, "--diff-merges"],
    ..SHOWN
};
