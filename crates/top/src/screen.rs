//! The terminal: what keys and signals do, and how it was before.
//!
//! A thread of its own looks at the jobs, so that keys are answered while a launcher is not.
//! However the command ends, by a key, a signal or a panic, the terminal is as it was.

use std::io::{self, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::Show;
use ratatui_crossterm::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

use crate::draw::{Room, View, draw, lines};
use crate::find::Finder;
use crate::frame::JobFrame;
use crate::text::People;

/// How long a signal waits to be seen.
const LOOK: Duration = Duration::from_millis(200);

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    End,
    Pause,
    /// To go on by so many ranks.
    Move(isize),
    /// To go on by a screen, or back.
    Page(isize),
    First,
    Last,
    NextJob,
    Sort,
    Nothing,
}

fn wish(code: KeyCode, modifiers: KeyModifiers) -> Wish {
    let is_control = modifiers.contains(KeyModifiers::CONTROL);
    match code {
        KeyCode::Char('c') if is_control => Wish::End,
        KeyCode::Char('z') if is_control => Wish::Pause,
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Wish::End,
        KeyCode::Up | KeyCode::Char('k') => Wish::Move(-1),
        KeyCode::Down | KeyCode::Char('j') => Wish::Move(1),
        KeyCode::PageUp => Wish::Page(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => Wish::Page(1),
        KeyCode::Home => Wish::First,
        KeyCode::End => Wish::Last,
        KeyCode::Tab => Wish::NextJob,
        KeyCode::Char('s') => Wish::Sort,
        _ => Wish::Nothing,
    }
}

/// What is shown after a key, of so many jobs, with that room on the screen.
fn turn(view: View, wish: Wish, jobs: usize, room: Room) -> View {
    let from = view.first.min(room.last_first);
    let go = |by: isize| View {
        first: from.saturating_add_signed(by).min(room.last_first),
        ..view
    };
    match wish {
        Wish::Move(by) => go(by),
        Wish::Page(by) => go(by * room.ranks.max(1) as isize),
        Wish::First => go(isize::MIN),
        Wish::Last => go(isize::MAX),
        Wish::Sort => View {
            by_wait: !view.by_wait,
            first: 0,
            ..view
        },
        Wish::NextJob => View {
            chosen: (view.chosen + 1) % jobs.max(1),
            first: 0,
            ..view
        },
        Wish::End | Wish::Pause | Wish::Nothing => view,
    }
}

/// The terminal while it shows something else than a shell.
struct Screen(Terminal<CrosstermBackend<Stdout>>);

impl Screen {
    fn open() -> io::Result<Screen> {
        enable_raw_mode()?;
        let entered = execute!(io::stdout(), EnterAlternateScreen);
        let opened = entered.and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match opened {
            Ok(terminal) => Ok(Screen(terminal)),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back as it was.
fn restore() {
    // One that is gone has nothing to be restored.
    _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    _ = disable_raw_mode();
}

/// The signals that have come.
struct Signals {
    /// The last one that ends this command; 0 if none has come.
    end: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        let signals = Signals {
            end: Arc::default(),
            stop: Arc::default(),
        };
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
            flag::register_usize(signal, Arc::clone(&signals.end), signal as usize)?;
        }
        flag::register(SIGTSTP, Arc::clone(&signals.stop))?;
        Ok(signals)
    }
}

/// Shows jobs, with so long from one look to the next, until a key or a signal ends it; the status.
pub fn show(finder: Finder, every: Duration) -> i32 {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        told(panic);
    }));
    match run(finder, every) {
        Ok(status) => status,
        Err(error) => {
            catena_base::tell!(
                "catena top: the terminal cannot be used: {error}; --once prints a frame as text"
            );
            1
        }
    }
}

/// Looks at the jobs again and again, for as long as somebody takes what is seen.
fn look(mut finder: Finder, every: Duration) -> Receiver<Vec<JobFrame>> {
    let (send, receive) = mpsc::sync_channel(1);
    thread::spawn(move || {
        loop {
            let began = Instant::now();
            let frames = finder.look().iter().map(JobFrame::of).collect();
            if send.send(frames).is_err() {
                return;
            }
            thread::sleep(every.saturating_sub(began.elapsed()));
        }
    });
    receive
}

fn run(finder: Finder, every: Duration) -> io::Result<i32> {
    let signals = Signals::new()?;
    let people = People::here();
    let seen = look(finder, every);
    let mut jobs: Option<Vec<JobFrame>> = None;
    let (mut view, mut room) = (View::default(), Room::default());
    let mut screen = Screen::open()?;
    let mut is_new = true;
    loop {
        match seen.try_recv() {
            Ok(frames) => (jobs, is_new) = (Some(frames), true),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => {
                return Err(io::Error::other("what looks at the jobs has ended"));
            }
        }
        if std::mem::take(&mut is_new) {
            screen.0.draw(|frame| {
                let size = (frame.area().width.into(), frame.area().height.into());
                let drawn = lines(jobs.as_deref(), view, size, &people);
                room = drawn.1;
                draw(&drawn.0, frame);
            })?;
        }
        let mut is_to_stop = signals.stop.swap(false, Relaxed);
        match signals.end.load(Relaxed) {
            0 => {}
            signal => return Ok(128 + signal as i32),
        }
        if event::poll(LOOK)? {
            // A key, or another size of the terminal.
            is_new = true;
            if let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
            {
                let wish = wish(key.code, key.modifiers);
                if wish == Wish::End {
                    return Ok(0);
                }
                is_to_stop |= wish == Wish::Pause;
                view = turn(view, wish, jobs.as_ref().map_or(0, Vec::len), room);
            }
        }
        if is_to_stop {
            drop(screen);
            low_level::emulate_default_handler(SIGTSTP)?;
            screen = Screen::open()?;
            is_new = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_turn_what_is_shown() {
        let room = Room {
            ranks: 10,
            last_first: 25,
        };
        let mut view = View::default();
        let mut press = |code| {
            view = turn(view, wish(code, KeyModifiers::NONE), 2, room);
            (view.chosen, view.first, view.by_wait)
        };
        assert_eq!(press(KeyCode::Up), (0, 0, false));
        assert_eq!(press(KeyCode::Down), (0, 1, false));
        assert_eq!(press(KeyCode::PageDown), (0, 11, false));
        assert_eq!(press(KeyCode::End), (0, 25, false));
        assert_eq!(press(KeyCode::PageDown), (0, 25, false));
        assert_eq!(press(KeyCode::PageUp), (0, 15, false));
        assert_eq!(press(KeyCode::Char('s')), (0, 0, true));
        assert_eq!(press(KeyCode::Tab), (1, 0, true));
        assert_eq!(press(KeyCode::Tab), (0, 0, true));
        assert_eq!(press(KeyCode::Home), (0, 0, true));
    }

    #[test]
    fn it_ends_by_keys() {
        let none = KeyModifiers::NONE;
        for (code, modifiers, expected) in [
            (KeyCode::Char('q'), none, Wish::End),
            (KeyCode::Esc, none, Wish::End),
            (KeyCode::Char('c'), KeyModifiers::CONTROL, Wish::End),
            (KeyCode::Char('z'), KeyModifiers::CONTROL, Wish::Pause),
            (KeyCode::Char('c'), none, Wish::Nothing),
        ] {
            assert_eq!(wish(code, modifiers), expected);
        }
    }
}
