//! One page with everything: no other file, no network. What it does is in `page.js`.

use super::data::Results;
use super::svg::escaped;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page.
///
/// # Errors
/// In words, if a value is no number.
pub fn page(results: &Results) -> Result<String, String> {
    // Within a script only this could end it.
    let data = results.json()?.replace("</", "<\\/");
    let title = format!("{}: {}", results.machine.host, results.names().join(", "));
    // The data last: nothing in them is taken for a place to fill.
    Ok(PAGE
        .replace("@TITLE@", &escaped(&title))
        .replace("@STYLE@", STYLE)
        .replace("@SCRIPT@", SCRIPT)
        .replace("@DATA@", &data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::data::tests::results;

    #[test]
    fn the_page_has_all_data_and_needs_nothing_else() {
        let mut results = results();
        results.machine.host = "<b>".into();
        let page = page(&results).unwrap();
        assert!(page.contains("<title>&lt;b&gt;: a, b, slow</title>"));
        for place in ["@TITLE@", "@STYLE@", "@SCRIPT@", "@DATA@"] {
            assert!(!page.contains(place), "{place} is not filled");
        }
        let begin = page.find("<script type=\"application/json\"").unwrap();
        let data = page[begin..].split_once('>').unwrap().1;
        let data = data.split("</script>").next().unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["troubles"][0], "</script>");
        for outside in ["src=", "href=", "@import", "fetch("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
