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
    // The data last: nothing in them is taken for a place to fill.
    Ok(PAGE
        .replace("@TITLE@", &escaped(&results.title()))
        .replace("@STYLE@", STYLE)
        .replace("@SCRIPT@", SCRIPT)
        .replace("@DATA@", &data))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use catena_testing::skip;

    use super::*;
    use crate::compare::Verdict;
    use crate::graph::data::tests::results;

    #[test]
    fn the_page_has_all_data_and_needs_nothing_else() {
        let mut results = results();
        results.sessions[0].machine.host = "<b>".into();
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

    /// The browser, under one of the names that it has (`scripts/setup browser`).
    fn browser() -> Option<&'static str> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        names.into_iter().find(|name| {
            let version = Command::new(name).arg("--version").output();
            version.is_ok_and(|output| output.status.success())
        })
    }

    /// A third variant, which is ahead in one of the two figures that it has; of the other that is
    /// not known.
    fn add_faster(results: &mut Results) {
        let mut third = results.variants[1].clone();
        third.name = "c".into();
        results.variants.push(third);
        let mut next_to = results.comparisons[0].clone();
        (next_to.other, next_to.ratio, next_to.verdict) = (2, 1.25, Verdict::Worse);
        results.comparisons.push(next_to.clone());
        (next_to.figure, next_to.verdict) = (1, Verdict::Open);
        results.comparisons.push(next_to);
        for figure in &mut results.figures {
            figure.variants.push(None);
            figure.wrong.push(None);
        }
    }

    /// What a browser makes of it: all marks, a word where the mouse is, and other axes.
    #[test]
    fn a_browser_draws_it() {
        const USER: &str = r#"<script>
            const note = (name, value) => { document.body.dataset[name] = value; };
            const tick = () => [...document.querySelectorAll("svg text")].map(t => t.textContent).join();
            const over = document.querySelector("circle[fill=transparent]");
            over.dispatchEvent(new MouseEvent("mousemove", { clientX: 9, clientY: 9, bubbles: true }));
            note("tip", tip.hidden ? "none" : tip.textContent.replaceAll("\n", "; "));
            over.dispatchEvent(new MouseEvent("mouseleave"));
            note("away", tip.hidden);
            const before = tick();
            document.querySelector("input").click();
            note("axes", before !== tick());
            document.querySelector(".legend").click();
            note("left", document.querySelectorAll("polyline").length);
            note("best", [...document.querySelector("table").querySelectorAll("td")].map(cell => cell.textContent).join("; "));
        </script></body>"#;
        let Some(browser) = browser() else {
            return skip("browser", &"there is no Chromium (scripts/setup browser)");
        };
        let mut results = results();
        add_faster(&mut results);
        let page = page(&results).unwrap().replace("</body>", USER);
        let path = std::env::temp_dir().join(format!("catena-page-{}.html", std::process::id()));
        std::fs::write(&path, page).unwrap();
        let seen = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg("--virtual-time-budget=3000")
            .arg(format!("file://{}", path.display()))
            .output()
            .expect("it has told its version");
        std::fs::remove_file(&path).unwrap();
        let (seen, said) = [seen.stdout, seen.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .into();
        let body = seen
            .split("<body")
            .nth(1)
            .unwrap_or_else(|| panic!("no page: {said}"));
        let body = body.split('>').next().unwrap();
        for part in [
            "data-ready=\"yes\"",
            "data-tip=\"a: latency 8, 2 ranks; 8.06 us (",
            "data-away=\"true\"",
            "data-axes=\"true\"",
            // Two charts, of two variants now.
            "data-left=\"4\"",
            // Of five figures one has no verdict. Half the time of the best other one three times,
            // 1.25 times once or twice.
            "data-best=\"2 ranks; 5; 8 to 8; 3; 1; 1; 0.63; 0.72\"",
        ] {
            assert!(body.contains(part), "{part}: {body}");
        }
        assert!(
            seen.contains("class=\"better\""),
            "the grid has its colours"
        );
    }
}
