//! Charts as SVG: two beside each other, of many four.

use std::fmt::Write;

use super::chart::{Anchor, Chart, HEIGHT, LETTERS, Mark, WIDTH};

/// More charts than this are many.
const FEW: usize = 8;

/// One drawing of all charts.
pub fn draw(charts: &[Chart]) -> String {
    let beside = if charts.len() > FEW { 4 } else { 2 };
    let rows = charts.len().div_ceil(beside).max(1);
    let (width, height) = (WIDTH * beside as f64, HEIGHT * rows as f64);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{LETTERS}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (i, chart) in charts.iter().enumerate() {
        let x = WIDTH * (i % beside) as f64;
        let y = HEIGHT * (i / beside) as f64;
        let _ = writeln!(text, "<g transform=\"translate({x} {y})\">");
        for mark in chart.marks() {
            draw_mark(&mut text, &mark);
        }
        text += "</g>\n";
    }
    text + "</svg>\n"
}

fn draw_mark(text: &mut String, mark: &Mark) {
    let _ = match mark {
        Mark::Line {
            points,
            colour: [r, g, b],
            width,
        } => {
            let points: Vec<String> = points
                .iter()
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            let points = points.join(" ");
            writeln!(
                text,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"rgb({r},{g},{b})\" \
                 stroke-width=\"{width}\"/>"
            )
        }
        Mark::Dot {
            at: (x, y),
            colour: [r, g, b],
        } => {
            writeln!(
                text,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.2\" fill=\"rgb({r},{g},{b})\"/>"
            )
        }
        Mark::Words {
            at: (x, y),
            anchor,
            text: words,
            colour: [r, g, b],
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let words = escaped(words);
            writeln!(
                text,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" \
                 fill=\"rgb({r},{g},{b})\">{words}</text>"
            )
        }
    };
}

/// Text for a place between tags.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::chart::charts;
    use crate::graph::data::tests::results;

    #[test]
    fn drawings_are_closed_and_escaped() {
        let mut results = results();
        results.variants[0].name = "a<b&c".into();
        let text = draw(&charts(&results));
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(text.contains("a&lt;b&amp;c"));
        assert_eq!(text.matches("<g ").count(), text.matches("</g>").count());
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}
