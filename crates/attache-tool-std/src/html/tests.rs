use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn base() -> Url {
    Url::parse("https://a.test/docs/page").unwrap()
}

fn read(html: &str) -> PageText {
    page_text(html, &base(), 1 << 24)
}

#[track_caller]
fn check(html: &str, expected: &str) {
    assert_eq!(read(html).text, expected, "{html}");
}

#[test]
fn blanks_are_folded_and_blocks_are_apart() {
    check("  a \n b\t<b>c</b>d  <p>e<p>f<div>g</div>h", "a b cd\n\ne\n\nf\ng\nh");
    check("a<br>b<br><br><br>c", "a\nb\n\nc");
    check("a<hr>b", "a\n\n---\n\nb");
    check("a&nbsp;&amp;&nbsp;b&#0;&#27;c", "a & bc");
}

#[test]
fn headings_and_lists_are_marked() {
    check("<h1>A</h1>b<h3> </h3>c", "# A\n\nb\n\nc");
    check("<ul><li>a<li><p>b</p><ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne");
    check("<ol start=3><li>a</li><li>b</li></ol>", "3. a\n4. b");
    check(
        "<ol start=18446744073709551615><li>a<li>b</ol>",
        "18446744073709551614. a\n18446744073709551614. b",
    );
    check("<table><tr><th>a<th>b</tr><tr><td>1</td><td>2</td></table>", "a | b\n1 | 2");
}

#[test]
fn links_are_whole_and_lead_to_places() {
    check("see <a href='../x?a=1&amp;b'>the <b>x</b></a>.", "see [the x](https://a.test/x?a=1&b).");
    check("<a href=#top>up</a> <a href='javascript:alert(1)'>run</a> <a>none</a>", "up run none");
    check("<a href=/x><img src=y></a> <a href=/x><img alt=logo></a>", "[[image: logo]](https://a.test/x)");
    check("<a href=/x><div>block</div></a>", "[block](https://a.test/x)");
    check("<a href=/x>a<a href=/y>b", "[a](https://a.test/x)[b](https://a.test/y)");
    check(&format!("<a href='{}'>far</a>", "x".repeat(5_000)), "far");
}

#[test]
fn code_keeps_its_form() {
    check("run <code>a  b</code>.", "run `a b`.");
    check("<pre><code>fn a() {\n    1 &lt; 2\n}</code></pre>x", "```\nfn a() {\n    1 < 2\n}\n```\n\nx");
    check("<pre>never\nends", "```\nnever\nends\n```");
}

#[test]
fn what_only_a_browser_needs_is_left_out() {
    let html = "<head><title> A &amp;\n B </title><style>p{}</style></head><script>'<p>x</p>'</script>a\
        <svg><title>no</title><svg></svg><text>no</text></svg>b<template><p>no</p></template><!-- no -->\
        <div hidden>no<div>no</div></div><noscript>no</noscript>c<svg/>d<select><option>no</select>";
    let page = read(html);
    assert_eq!((page.text.as_str(), page.title.as_deref()), ("abcd", Some("A & B")));
}

#[test]
fn a_long_page_is_cut() {
    let page = page_text(&"word ".repeat(1_000), &base(), 100);
    assert!(page.cut && page.text.len() <= 120, "{}", page.text.len());
    assert!(!page_text("word", &base(), 100).cut);
}

/// What makes careless readers slow or deep.
const PIECES: &[&str] = &[
    "<div>",
    "</div>",
    "<ul>",
    "</ul>",
    "<ol start=9>",
    "<li>",
    "<a href=x>",
    "<a href=\"",
    "</a>",
    "<b ",
    "=",
    "'",
    "\"",
    ">",
    "<",
    "</",
    "<!--",
    "-->",
    "<!",
    "&",
    "&amp;",
    "&#x",
    ";",
    "<pre>",
    "</pre>",
    "<svg>",
    "</svg>",
    "<td>",
    "<tr>",
    "<table>",
    "<title>",
    "</title>",
    "<script>",
    "</script",
    "<h1>",
    "<h9>",
    "<code>",
    "<br>",
    "é",
    "\u{0}",
    " ",
    "\n",
    "word",
    "<div hidden>",
    "<svg/>",
    "<img alt=a>",
    "/",
    "<x:y>",
];

/// A page of 200 KB takes 50 ms without optimisation; quadratic work would take 10 s and more.
#[test]
fn time_grows_with_the_page_and_no_faster() {
    for piece in PIECES.iter().copied().chain([
        "<a href=x>y",
        "<a <a <a ",
        "&#x&",
        "<title>a</titl",
        "<ul><li>",
        "</b =\"'",
    ]) {
        let html = piece.repeat(200_000 / piece.len());
        let begun = Instant::now();
        let page = read(&html);
        assert!(begun.elapsed() < Duration::from_secs(2), "{piece:?}: {:?}", begun.elapsed());
        assert!(page.text.len() <= html.len() * 8, "{piece:?}: {}", page.text.len());
    }
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60), limit in 0_usize..400) {
        let html = pieces.concat();
        let page = page_text(&html, &base(), limit);
        prop_assert!(page.text.chars().all(|character| !character.is_control() || "\n\t".contains(character)));
        prop_assert!(page.cut || page == read(&html));
    }

    #[test]
    fn nor_does_anything_else(html in ".{0,200}") {
        let page = read(&html);
        prop_assert!(!page.text.ends_with(char::is_whitespace));
    }
}
