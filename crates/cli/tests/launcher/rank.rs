//! What this program does when a test has the launcher start it as a rank.

use std::io::Write;
use std::process::{Command, exit};

use catena_boot::Boot;

/// Tells this program that it is a rank, and in which role.
pub const ROLE: &str = "LAUNCHER_TEST_ROLE";

/// Not a test, but the entry to the roles; does nothing when run as a test.
#[test]
fn rank_program() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    // Ends the line that the test harness has begun.
    println!();
    let boot = match catena_boot::open() {
        Ok(boot) => boot,
        Err(error) => {
            println!("refused {error}");
            exit(9);
        }
    };
    match role.as_str() {
        "exchange" => exchange(boot),
        "ask" => ask(boot),
        "wait" => wait(boot),
        "wait-in-world" => wait_in_world(boot),
        "silent" => silent(boot),
        "silent-all" => silent_all(boot),
        "late" => late(boot),
        "in-vain" => in_vain(boot),
        "both" => both(boot),
        "abort" => abort(boot),
        "twice" => twice(boot),
        "alone" => println!("alone {} of {}", boot.job().rank, boot.job().size),
        other => panic!("no role {other}"),
    }
    exit(0);
}

/// Everybody learns a value of everybody, twice.
fn exchange(mut boot: Box<dyn Boot>) {
    let job = boot.job().clone();
    for round in 0..2u8 {
        boot.put("value", &[job.rank as u8, round]).unwrap();
        boot.fence().unwrap();
        for rank in 0..job.size {
            assert_eq!(
                boot.get(rank, "value").unwrap().unwrap(),
                [rank as u8, round]
            );
        }
    }
    let segment = std::fs::File::from(boot.take_segment().unwrap().unwrap());
    let bytes = segment.metadata().unwrap().len();
    let sets: Vec<_> = job
        .psets
        .iter()
        .map(|(name, ranks)| format!("{name}={ranks:?}"))
        .collect();
    boot.finalize().unwrap();
    println!(
        "exchanged rank={} size={} app={} local={} host={} bytes={bytes} {}",
        job.rank,
        job.size,
        job.appnum,
        job.local.len(),
        job.host(),
        sets.join(" ").replace(", ", ",")
    );
}

/// Everybody but the last rank learns a value of that one, without a fence.
fn ask(mut boot: Box<dyn Boot>) {
    let (rank, last) = (boot.job().rank, boot.job().size - 1);
    match rank == last {
        true => boot.publish("value", b"published").unwrap(),
        false => {
            while boot
                .ask(boot.job().job_id, last, "value")
                .unwrap()
                .as_deref()
                != Some(b"published")
            {
                std::thread::yield_now();
            }
        }
    }
    boot.finalize().unwrap();
    println!("answered {rank}");
}

/// As [`wait`], in a program that calls MPI_Init.
fn wait_in_world(mut boot: Box<dyn Boot>) {
    let jobs = boot.jobs().expect("Catena's launcher");
    jobs.tell_world().unwrap();
    wait(boot);
}

/// Says who it is and waits for ever.
fn wait(mut boot: Box<dyn Boot>) {
    boot.jobs().expect("Catena's launcher").ready().unwrap();
    println!("waiting {} {}", boot.job().rank, std::process::id());
    loop {
        std::thread::park();
    }
}

/// Rank 1 ends without a word; the others wait for it.
fn silent(mut boot: Box<dyn Boot>) {
    if boot.job().rank != 1 {
        boot.fence().unwrap();
    }
}

/// All end without a word, once all are there.
fn silent_all(mut boot: Box<dyn Boot>) {
    boot.fence().unwrap();
    exit(0);
}

/// Rank 1 fails after MPI_Finalize; the others have something to do when they are told of that.
fn late(mut boot: Box<dyn Boot>) {
    let rank = boot.job().rank;
    boot.fence().unwrap();
    if rank != 1 {
        let jobs = boot.jobs().expect("Catena's launcher");
        while jobs.deaths().unwrap().is_empty() {
            std::thread::yield_now();
        }
    }
    boot.finalize().unwrap();
    println!("finished {rank}");
    exit(if rank == 1 { 5 } else { 0 });
}

/// Rank 1 fails after MPI_Finalize; the others wait for it.
fn in_vain(mut boot: Box<dyn Boot>) {
    let rank = boot.job().rank;
    boot.fence().unwrap();
    if rank == 1 {
        boot.finalize().unwrap();
        exit(5);
    }
    wait(boot);
}

/// Rank 1 fails after MPI_Finalize; once the others know, one of them fails.
fn both(mut boot: Box<dyn Boot>) {
    let rank = boot.job().rank;
    boot.fence().unwrap();
    if rank == 1 {
        boot.finalize().unwrap();
        exit(5);
    }
    let jobs = boot.jobs().expect("Catena's launcher");
    while jobs.deaths().unwrap().is_empty() {
        std::thread::yield_now();
    }
    match rank {
        0 => exit(6),
        _ => wait(boot),
    }
}

/// Rank 1 aborts; what it has printed must not be lost.
fn abort(mut boot: Box<dyn Boot>) {
    if boot.job().rank != 1 {
        println!("waiting {} {}", boot.job().rank, std::process::id());
        boot.fence().unwrap();
        return wait(boot);
    }
    // The others have said who they are.
    boot.fence().unwrap();
    print!("last words");
    std::io::stdout().flush().unwrap();
    boot.abort(42, "the input is bad");
    exit(42);
}

/// Starts another program that believes to be the same rank.
fn twice(boot: Box<dyn Boot>) {
    let me = std::env::current_exe().unwrap();
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let output = Command::new(&me)
        .args(&args)
        .env(ROLE, "alone")
        .output()
        .unwrap();
    print!(
        "second {}",
        String::from_utf8_lossy(&output.stdout).replace('\n', " ")
    );
    println!();
    let alone = Command::new(&me)
        .args(&args)
        .env(ROLE, "alone")
        .env("CATENA_SINGLETON", "1")
        .output()
        .unwrap();
    print!(
        "third {}",
        String::from_utf8_lossy(&alone.stdout).replace('\n', " ")
    );
    println!();
    let mut boot = boot;
    boot.finalize().unwrap();
}
