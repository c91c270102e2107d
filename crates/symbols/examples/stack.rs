//! Prints the places of addresses in a process, and how long that took: `stack PID ADDRESS...`,
//! addresses in hexadecimal.

use std::time::Instant;

use catena_symbols::{Maps, Symbols};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let pid = args.next().ok_or("a process, and addresses")?.parse()?;
    let number = |it: String| u64::from_str_radix(it.trim_start_matches("0x"), 16);
    let frames = args.map(number).collect::<Result<Vec<_>, _>>()?;
    let maps = Maps::read(pid)?;
    let mut symbols = Symbols::new();
    for _ in 0..2 {
        let begin = Instant::now();
        let stack = symbols.stack(&maps, &frames);
        let took = begin.elapsed();
        for frame in stack {
            println!("{frame} ({})", frame.function().unwrap_or_default());
        }
        println!("took {took:?}");
    }
    Ok(())
}
