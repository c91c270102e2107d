//! Frames on a screen. What is shown is a function of the frames, of what the user has chosen, and
//! of the size of the screen.

use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::terminal::Frame;
use ratatui_core::text::{Line as Drawn, Span};

use crate::frame::{JobFrame, Row};
use crate::text::{self, Line, People, Table, Tone, WAITS, cut};

/// Most jobs that are listed at a time.
const JOBS: usize = 5;

/// What the user has chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The job of which ranks are shown, by its place among all.
    pub chosen: usize,
    /// The first rank that is shown, by its place among all.
    pub first: usize,
    /// Whether ranks that have waited longest come first.
    pub by_wait: bool,
}

/// What there is room for: how many ranks at a time, and how far the first one may be down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Ranks that are shown.
    pub ranks: usize,
    /// The largest number of the first of them.
    pub last_first: usize,
}

/// The lines of a screen of that width and height, and what has room in it. `jobs` is `None` before
/// the first look.
pub fn lines(
    jobs: Option<&[JobFrame]>,
    view: View,
    (width, height): (usize, usize),
    people: &People,
) -> (Vec<Line>, Room) {
    let say = |text: &str| vec![vec![(text.to_string(), Tone::Plain)]];
    let Some(all) = jobs else {
        return (
            say("catena top: looking for jobs; q ends it"),
            Room::default(),
        );
    };
    let chosen = view.chosen.min(all.len().saturating_sub(1));
    let Some(job) = all.get(chosen) else {
        let text = "no job of yours runs on this host; q ends it";
        return (say(text), Room::default());
    };
    let mut lines = Vec::new();
    if all.len() > 1 {
        let first = (chosen + 1).saturating_sub(JOBS);
        lines.extend(
            text::jobs(all, chosen, people)
                .into_iter()
                .skip(first)
                .take(JOBS),
        );
        lines.push(Line::new());
    }
    lines.extend(text::head(job, people));
    lines.extend(text::verdict(job, width));
    lines.extend(text::waits(job, WAITS));
    let table = Table::of(job, width);
    if !job.ranks.is_empty() {
        lines.push(table.head());
    }
    // The last line says which keys there are.
    lines.truncate(height.saturating_sub(1));
    let room = Room {
        ranks: height.saturating_sub(1 + lines.len()),
        last_first: (job.ranks.len() + lines.len() + 1).saturating_sub(height),
    };
    let mut rows: Vec<&Row> = job.ranks.iter().collect();
    if view.by_wait {
        // Those that stand in another way than running come first, and of these the longest.
        rows.sort_by_key(|row| (row.stand, std::cmp::Reverse(row.since)));
    }
    let first = view.first.min(room.last_first);
    let shown = rows.iter().skip(first).take(room.ranks);
    lines.extend(shown.map(|row| table.row(row)));
    lines.resize(height.saturating_sub(1).max(lines.len()), Line::new());
    lines.push(keys(job, view, first, room, all.len()));
    (lines, room)
}

/// The last line.
fn keys(job: &JobFrame, view: View, first: usize, room: Room, jobs: usize) -> Line {
    let count = job.ranks.len();
    let mut parts = vec!["q end".to_string()];
    if room.last_first > 0 {
        let last = (first + room.ranks).min(count);
        parts.push(format!("up/down ranks {} to {last} of {count}", first + 1));
    }
    parts.push(match view.by_wait {
        true => "s by rank".into(),
        false => "s longest wait first".into(),
    });
    if jobs > 1 {
        parts.push("Tab next job".into());
    }
    vec![(parts.join("   "), Tone::Faint)]
}

/// Draws lines.
pub fn draw(lines: &[Line], frame: &mut Frame<'_>) {
    let area = frame.area();
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        let mut left = usize::from(area.width);
        let spans = line.iter().map(|(text, tone)| {
            let text = cut(text, left);
            left -= text.chars().count();
            Span::styled(text, style(*tone))
        });
        let drawn = Drawn::from(spans.collect::<Vec<_>>());
        let row = ratatui_core::layout::Rect {
            y,
            height: 1,
            ..area
        };
        frame.render_widget(drawn, row);
    }
}

fn style(tone: Tone) -> Style {
    let style = Style::new();
    match tone {
        Tone::Plain => style,
        Tone::Head => style.add_modifier(Modifier::BOLD),
        Tone::Faint => style.add_modifier(Modifier::DIM),
        Tone::Good => style.fg(Color::Green),
        Tone::Warning => style.fg(Color::Yellow),
        Tone::Bad => style.fg(Color::Red).add_modifier(Modifier::BOLD),
    }
}

#[cfg(test)]
mod tests {
    use catena_hang::What;
    use ratatui_core::backend::TestBackend;
    use ratatui_core::terminal::Terminal;

    use super::*;
    use crate::seen::tests::{glance, job, waits};
    use crate::text::tests::{frame, people};

    /// What stands on a screen.
    fn drawn(jobs: Option<&[JobFrame]>, view: View, (width, height): (u16, u16)) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let size = (usize::from(width), usize::from(height));
        let (lines, _) = lines(jobs, view, size, &people());
        terminal.draw(|to| draw(&lines, to)).unwrap();
        let cells = terminal.backend().buffer().content();
        let rows = cells.chunks(usize::from(width));
        let text = |row: &[ratatui_core::buffer::Cell]| row.iter().map(|it| it.symbol()).collect();
        rows.map(|row| -> String { text(row) })
            .map(|row| row.trim_end().to_string())
            .collect()
    }

    /// Makes two looks at a job of `count` ranks, in which the last rank waits for the first one.
    fn many(count: u32) -> JobFrame {
        let at = |second: u64| {
            let each = (0..count).map(|rank| {
                let glance = glance(rank, second, 5 * second, "MPI_Send");
                Some(match rank + 1 == count {
                    true => waits(glance, 5, What::Message, &[0]),
                    false => glance,
                })
            });
            job(each.collect())
        };
        let mut now = at(12);
        now.follow(&at(10));
        JobFrame::of(&now)
    }

    #[test]
    fn all_of_a_small_job_has_room_in_80_columns_and_24_lines() {
        let screen = drawn(Some(&[frame()]), View::default(), (80, 24));
        assert_eq!(screen.len(), 24);
        assert!(screen[0].starts_with("job 7, mpirun 99  3 ranks on 1 host  ./ring 100"));
        let at = |text: &str| {
            let at = screen.iter().position(|line| line.starts_with(text));
            at.unwrap_or_else(|| panic!("{text} is not in {screen:#?}"))
        };
        let head = at("rank state     call");
        assert!(at("no progress: rank 1") < head);
        let wait = "MPI_Barrier on MPI_COMM_WORLD: 2 of 3 ranks wait for rank 1, 7 s";
        assert_eq!(screen[head - 1], wait);
        assert!(screen[head + 1].starts_with("   0 waits     MPI_Barrier 7 s for rank 1"));
        assert!(screen[head + 2].starts_with("   1 computes  MPI_Send 2 s"));
        assert!(screen[head + 1].ends_with("64M"), "{screen:#?}");
        assert_eq!(screen[23], "q end   s longest wait first");
    }

    #[test]
    fn more_ranks_than_lines_are_reached_by_keys() {
        let frame = [many(40)];
        let view = |first, by_wait| View {
            first,
            by_wait,
            ..View::default()
        };
        let shown = |screen: &[String]| {
            let head = screen
                .iter()
                .position(|it| it.starts_with("rank state"))
                .unwrap();
            let rows = screen[head + 1..23].iter();
            let number = |row: &String| row.split_whitespace().next().unwrap().parse().unwrap();
            rows.map(number).collect::<Vec<u32>>()
        };
        let screen = drawn(Some(&frame), view(0, false), (80, 24));
        let ranks = shown(&screen);
        assert_eq!(ranks[0], 0);
        assert_eq!(
            screen[23],
            format!(
                "q end   up/down ranks 1 to {} of 40   s longest wait first",
                ranks.len()
            )
        );
        // Beyond the end there is nothing more than the end.
        let screen = drawn(Some(&frame), view(1000, false), (80, 24));
        assert_eq!(shown(&screen).last(), Some(&39));
        assert_eq!(shown(&screen).len(), ranks.len());
        let screen = drawn(Some(&frame), view(0, true), (80, 24));
        assert_eq!(shown(&screen)[..2], [39, 0]);
    }

    #[test]
    fn several_jobs_are_listed_above_the_chosen_one() {
        let jobs = [frame(), many(2)];
        let view = View {
            chosen: 1,
            ..View::default()
        };
        let screen = drawn(Some(&jobs), view, (80, 24));
        assert!(screen[0].starts_with("  job 7, mpirun 99  3 ranks on 1 host: 2 wait, 1 com"));
        assert!(screen[1].starts_with("> job 7, mpirun 99  2 ranks on 1 host: 1 waits, 1 runs"));
        assert_eq!(screen[2], "");
        assert!(screen[3].contains("2 ranks on 1 host"));
        assert!(screen[23].ends_with("Tab next job"));
        // One of them has ended meanwhile.
        let screen = drawn(Some(&jobs[..1]), view, (80, 24));
        assert!(screen[0].contains("3 ranks on 1 host"));
    }

    #[test]
    fn any_screen_is_large_enough() {
        let jobs = [frame(), many(40)];
        for size in [(1, 1), (7, 3), (20, 5), (300, 100)] {
            for all in [None, Some(&jobs[..0]), Some(&jobs[..1]), Some(&jobs[..])] {
                let screen = drawn(all, View::default(), size);
                assert_eq!(screen.len(), usize::from(size.1));
            }
        }
        let screen = drawn(Some(&[]), View::default(), (80, 24));
        assert_eq!(screen[0], "no job of yours runs on this host; q ends it");
    }
}
