//! Row 12: `catena top`, what jobs do now, once a second.
//!
//! | module   | what it does                                                        |
//! |----------|---------------------------------------------------------------------|
//! | `args`   | understands the command line                                        |
//! | `seen`   | what was seen of a job, and what the look before it adds to that     |
//! | `find`   | finds jobs, and looks at them                                       |
//! | `frame`  | what two looks at a job tell: rates, states, who waits for whom      |
//! | `amount` | numbers in few characters                                           |
//! | `text`   | a frame in lines                                                    |
//! | `json`   | a frame as JSON                                                     |
//! | `draw`   | frames on a screen                                                  |
//! | `screen` | the terminal: keys, signals, and how it was before                  |
//! | `http`   | what a browser asks for, and what it is answered                     |
//! | `web`    | the connections of browsers                                         |
//!
//! Everything that is shown is read: in memory that ranks write in any case, and in `/proc`. No
//! rank is asked, or stopped. From what was seen to what is shown all is a function of values
//! ([`Frame::of`](frame::JobFrame::of), `draw`), which tests call with values of their own.

#![forbid(unsafe_code)]

mod amount;
mod args;
mod draw;
mod find;
mod frame;
mod http;
mod json;
mod screen;
mod seen;
mod text;
mod web;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::{Duration, Instant};

use catena_launcher::USAGE;

use args::{Args, Parsed};
use find::Finder;
use frame::JobFrame;
use text::People;

const HELP: &str = include_str!("help.txt");

/// How long from one look to the next.
const EVERY: Duration = Duration::from_secs(1);

/// How long between the two looks of which one frame alone is made: a rank that does nothing but
/// wait from one to the other has said so by the second, which takes it a second and a tenth.
const FIRST: Duration = Duration::from_millis(1250);

/// `catena top` with its arguments; gives its status.
pub fn top(args: impl Iterator<Item = OsString>) -> i32 {
    let args = match args::parse(args) {
        Ok(Parsed::Help) => {
            print!("{HELP}");
            return 0;
        }
        Ok(Parsed::Args(args)) => args,
        Err(why) => {
            catena_base::tell!("catena top: {why}");
            return USAGE;
        }
    };
    let mut finder = match Finder::new(&args) {
        Ok(finder) => finder,
        Err(why) => {
            catena_base::tell!("catena top: {why}");
            return 1;
        }
    };
    if let Some(port) = args.web {
        return web::serve(finder, port, EVERY);
    }
    let is_plain = args.once || args.json || !io::stdout().is_terminal();
    if !is_plain {
        return screen::show(finder, EVERY);
    }
    match print(&mut finder, &args) {
        Ok(()) => 0,
        Err(error) => {
            catena_base::tell!("catena top: what it shows cannot be written: {error}");
            1
        }
    }
}

/// Prints frames: one as text, or, as JSON, one a second until the jobs have ended.
fn print(finder: &mut Finder, args: &Args) -> io::Result<()> {
    finder.look();
    thread::sleep(FIRST);
    loop {
        let began = Instant::now();
        let jobs = finder.look();
        let frames: Vec<JobFrame> = jobs.iter().map(JobFrame::of).collect();
        let mut out = io::stdout().lock();
        match args.json {
            true => writeln!(out, "{}", json::line(&frames))?,
            false => out.write_all(text::all(&frames, &People::here()).as_bytes())?,
        }
        out.flush()?;
        let is_over = !args.all && frames.iter().all(|job| job.has_ended);
        if !args.json || args.once || is_over {
            return Ok(());
        }
        thread::sleep(EVERY.saturating_sub(began.elapsed()));
    }
}
