//! Charts made of letters: a for the first variant, b for the second, and so on.

use super::chart::Chart;
use crate::show;

const HEIGHT: usize = 14;
const WIDTH: usize = 60;
const LABEL: usize = 10;

/// All charts, below each other.
pub fn draw(charts: &[Chart]) -> String {
    charts.iter().map(one).collect()
}

fn one(chart: &Chart) -> String {
    let (sizes, axis) = (chart.sizes(), chart.axis());
    let step = WIDTH / sizes.len().max(1);
    let mut rows = vec![vec![' '; WIDTH]; HEIGHT];
    let row = |value: f64| {
        let place = axis.place(value).clamp(0.0, 1.0) * (HEIGHT - 1) as f64;
        HEIGHT - 1 - place.round() as usize
    };
    for (letter, series) in ('a'..='z').cycle().zip(&chart.series) {
        for (size, median, ..) in &series.values {
            let index = sizes.iter().position(|s| s == size).unwrap_or_default();
            let (y, mut x) = (row(*median), (index * step + step / 2).min(WIDTH - 1));
            // Beside another one that is there already.
            while x + 1 < WIDTH && rows[y][x] != ' ' {
                x += 1;
            }
            rows[y][x] = letter;
        }
    }
    let mut labels = vec![String::new(); HEIGHT];
    for tick in axis.ticks(4) {
        labels[row(tick)] = show::value(tick, &chart.unit);
    }
    let mut text = format!("\n{}", chart.title);
    for (letter, series) in ('a'..='z').cycle().zip(&chart.series) {
        text += &format!("   {letter}: {}", series.name);
    }
    text += "\n";
    for (label, row) in labels.iter().zip(rows) {
        let row: String = row.into_iter().collect();
        text += format!("{label:>LABEL$} |{row}").trim_end();
        text += "\n";
    }
    text += &format!("{:LABEL$} +{}\n", "", "-".repeat(WIDTH));
    let mut below = " ".repeat(LABEL + 2 + WIDTH);
    for (index, size) in sizes.iter().enumerate().filter(|(_, s)| **s > 0) {
        let name = show::size(*size);
        let at = (LABEL + 2 + index * step + step / 2).saturating_sub(name.len() / 2);
        let free = below.get(at.saturating_sub(1)..(at + name.len()).min(below.len()));
        if free.is_some_and(|room| room.len() > name.len() && room.trim().is_empty()) {
            below.replace_range(at..at + name.len(), &name);
        }
    }
    text += below.trim_end();
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::chart::charts;
    use crate::graph::data::tests::results;

    #[test]
    fn letters_stand_where_values_are() {
        let text = draw(&charts(&results()));
        let latency: Vec<&str> = text.lines().skip(1).take(HEIGHT + 3).collect();
        assert_eq!(latency[0], "latency, 2 ranks   a: a   b: b, slow");
        let a: Vec<usize> = latency[1..]
            .iter()
            .filter_map(|l| l.get(12..)?.find('a'))
            .collect();
        assert_eq!(a.len(), 4, "{text}");
        assert!(
            a.is_sorted_by(|x, y| x > y),
            "greater sizes stand higher and further right"
        );
        assert_eq!(
            latency[HEIGHT + 2]
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            "8 B 64 B 512 B 64 KiB"
        );
    }
}
