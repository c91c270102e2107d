//! Charts as PDF, eight on a page, with a font that every reader has.

use std::fmt::Write;

use super::chart::{Anchor, Chart, LETTERS, Mark, WIDTH};

/// A4, upright.
const PAGE: (f64, f64) = (595.0, 842.0);
const BESIDE: usize = 2;
const BELOW: usize = 4;
const MARGIN: f64 = 30.0;

/// A document of all charts; each page has the title.
pub fn draw(charts: &[Chart], title: &str) -> Vec<u8> {
    let mut pages: Vec<String> = match charts.is_empty() {
        true => vec![String::new()],
        false => charts.chunks(BESIDE * BELOW).map(page).collect(),
    };
    let count = pages.len();
    for (i, content) in pages.iter_mut().enumerate() {
        let number = format!("{} / {count}", i + 1);
        let right = PAGE.0 - MARGIN - width(&number);
        for (x, words) in [(MARGIN, title), (right, &number)] {
            let (y, words) = (PAGE.1 - MARGIN, escaped(words));
            let _ = writeln!(
                content,
                "BT 0.4 g /F {LETTERS} Tf {x:.1} {y:.1} Td ({words}) Tj ET"
            );
        }
    }
    // Objects 1, 2 and 3 are the catalogue, the pages and the font; then a page and its content
    // each.
    let kids: Vec<String> = (0..pages.len())
        .map(|i| format!("{} 0 R", 4 + 2 * i))
        .collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        format!(
            "<< /Type /Pages /Kids [{}] /Count {} >>",
            kids.join(" "),
            pages.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".into(),
    ];
    for (i, content) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents {} 0 R \
             /Resources << /Font << /F 3 0 R >> >> >>",
            PAGE.0,
            PAGE.1,
            5 + 2 * i
        ));
        let length = content.len();
        objects.push(format!(
            "<< /Length {length} >>\nstream\n{content}\nendstream"
        ));
    }
    let mut text = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        places.push(text.len());
        let _ = write!(text, "{} 0 obj\n{object}\nendobj\n", i + 1);
    }
    let table = text.len();
    let _ = write!(text, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(text, "{place:010} 00000 n ");
    }
    let _ = write!(
        text,
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    text.into_bytes()
}

fn page(charts: &[Chart]) -> String {
    let scale = (PAGE.0 - 2.0 * MARGIN) / (BESIDE as f64 * WIDTH);
    let mut text = String::new();
    for (i, chart) in charts.iter().enumerate() {
        let x = MARGIN + scale * WIDTH * (i % BESIDE) as f64;
        let below = (i / BESIDE) as f64 * (PAGE.1 - 3.0 * MARGIN) / BELOW as f64;
        let y = PAGE.1 - 2.0 * MARGIN - below;
        // From here on y goes down.
        let _ = writeln!(text, "q {scale:.4} 0 0 -{scale:.4} {x:.1} {y:.1} cm");
        for mark in chart.marks() {
            draw_mark(&mut text, &mark);
        }
        text += "Q\n";
    }
    text
}

fn draw_mark(text: &mut String, mark: &Mark) {
    let shares = |colour: [u8; 3]| {
        let [r, g, b] = colour.map(|c| f64::from(c) / 255.0);
        format!("{r:.3} {g:.3} {b:.3}")
    };
    let _ = match mark {
        Mark::Line {
            points,
            colour,
            width,
        } => {
            let _ = writeln!(text, "{} RG {width} w", shares(*colour));
            for (i, (x, y)) in points.iter().enumerate() {
                let step = if i == 0 { "m" } else { "l" };
                let _ = writeln!(text, "{x:.1} {y:.1} {step}");
            }
            writeln!(text, "S")
        }
        Mark::Dot { at: (x, y), colour } => {
            // A line without length and with round ends.
            let colour = shares(*colour);
            writeln!(
                text,
                "{colour} RG 4.4 w 1 J {x:.1} {y:.1} m {x:.1} {y:.1} l S 0 J"
            )
        }
        Mark::Words {
            at: (x, y),
            anchor,
            text: words,
            colour,
        } => {
            let x = match anchor {
                Anchor::Start => *x,
                Anchor::Middle => x - width(words) / 2.0,
                Anchor::End => x - width(words),
            };
            let (colour, words) = (shares(*colour), escaped(words));
            writeln!(
                text,
                "BT {colour} rg /F {LETTERS} Tf 1 0 0 -1 {x:.1} {y:.1} Tm ({words}) Tj ET"
            )
        }
    };
}

/// About how wide words are in Helvetica.
fn width(words: &str) -> f64 {
    let narrow = |c: char| matches!(c, ' ' | '.' | ',' | 'i' | 'l' | 't' | 'f' | 'I' | '/');
    let letter = |c| if narrow(c) { 0.28 } else { 0.56 };
    LETTERS * words.chars().map(letter).sum::<f64>()
}

/// Text within brackets; what the font lacks is a question mark.
fn escaped(words: &str) -> String {
    let mut text = String::new();
    for c in words.chars() {
        match c {
            '(' | ')' | '\\' => text.extend(['\\', c]),
            ' '..='~' => text.push(c),
            _ => text.push('?'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::chart::charts;
    use crate::graph::data::tests::results;

    #[test]
    fn places_of_objects_are_right() {
        let text = String::from_utf8(draw(&charts(&results()), "a (b)")).unwrap();
        let table = text.find("xref\n").unwrap();
        let lines = text[table..]
            .lines()
            .skip(3)
            .take_while(|l| l.ends_with(" n "));
        let mut objects = 0;
        for (i, line) in lines.enumerate() {
            let place: usize = line[..10].parse().unwrap();
            assert!(text[place..].starts_with(&format!("{} 0 obj", i + 1)));
            objects += 1;
        }
        assert_eq!(objects, 5);
        assert!(text.ends_with(&format!("startxref\n{table}\n%%EOF\n")));
        let length: usize = text
            .split("/Length ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let stream = text.split("stream\n").nth(1).unwrap();
        assert_eq!(stream.trim_end_matches("end").len(), length + 1);
        assert!(text.contains("(a \\(b\\)) Tj") && text.contains("(1 / 1) Tj"));
        assert_eq!(escaped("a(b)\\ü"), "a\\(b\\)\\\\?");
    }
}
