//! Ranks as threads, against a process manager that speaks PMI-1 and PMI-2.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, JoinHandle};

use super::*;

/// A process manager for the ranks of one job.
struct Pmi {
    size: u32,
    /// Longest value, with the end of a C string.
    limit: usize,
    mapping: &'static str,
    space: Mutex<HashMap<String, String>>,
    barrier: Barrier,
    /// Requests as they came, without values.
    seen: Mutex<Vec<String>>,
}

impl Pmi {
    fn new(size: u32, limit: usize, mapping: &'static str) -> Arc<Pmi> {
        Arc::new(Pmi {
            size,
            limit,
            mapping,
            space: Mutex::default(),
            barrier: Barrier::new(size as usize),
            seen: Mutex::default(),
        })
    }

    /// Answers one rank until it parts or leaves.
    fn serve(&self, rank: u32, stream: impl Read + Write) {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        while matches!(stream.read_line(&mut line), Ok(1..)) {
            let request = std::mem::take(&mut line);
            let (answer, last) = self.answer(rank, request.trim_end());
            let sent = stream.get_mut().write_all(answer.as_bytes());
            if last || sent.is_err() {
                return;
            }
        }
    }

    fn answer(&self, rank: u32, request: &str) -> (String, bool) {
        let pairs: HashMap<_, _> = request
            .split(' ')
            .filter_map(|p| p.split_once('='))
            .collect();
        self.seen
            .lock()
            .unwrap()
            .push(format!("{rank} {}", pairs["cmd"]));
        let answer = match pairs["cmd"] {
            "initack" => format!(
                "cmd=initack rc=0\ncmd=set size={}\ncmd=set rank={rank}\ncmd=set debug=0",
                self.size
            ),
            "init" => "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1".to_string(),
            "get_maxes" => format!("cmd=maxes keylen_max=64 vallen_max={}", self.limit),
            "get_appnum" => format!("cmd=appnum appnum={}", rank % 2),
            "get_universe_size" => "cmd=universe_size size=-1".to_string(),
            "get_my_kvsname" => "cmd=my_kvsname kvsname=space".to_string(),
            "put" => {
                assert!(pairs["key"].len() < 64 && pairs["value"].len() < self.limit);
                assert_eq!(pairs["kvsname"], "space");
                let mut space = self.space.lock().unwrap();
                let old = space.insert(pairs["key"].to_string(), pairs["value"].to_string());
                assert_eq!(old, None, "a key is put once");
                "cmd=put_result rc=0".to_string()
            }
            "get" if pairs["key"] == "PMI_process_mapping" => {
                format!("cmd=get_result rc=0 value={}", self.mapping)
            }
            "get" => match self.space.lock().unwrap().get(pairs["key"]) {
                Some(value) => format!("cmd=get_result rc=0 msg=success value={value}"),
                None => "cmd=get_result rc=-1 msg=key_not_found value=unknown".to_string(),
            },
            "barrier_in" => {
                self.barrier.wait();
                "cmd=barrier_out".to_string()
            }
            "finalize" => return ("cmd=finalize_ack\n".to_string(), true),
            "abort" => return (String::new(), true),
            other => panic!("{other}"),
        };
        (answer + "\n", false)
    }

    /// Answers one rank that speaks PMI-2.
    fn serve_2(&self, rank: u32, mut stream: impl Read + Write) {
        let mut line = [0; 40];
        stream.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"cmd=init pmi_version=2 pmi_subversion=0\n");
        let hello = b"cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n";
        stream.write_all(hello).unwrap();
        let mut digits = [0; 6];
        while stream.read_exact(&mut digits).is_ok() {
            let len: usize = str::from_utf8(&digits).unwrap().trim().parse().unwrap();
            let mut body = vec![0; len];
            stream.read_exact(&mut body).unwrap();
            let (answer, last) = self.answer_2(rank, str::from_utf8(&body).unwrap());
            let frame = format!("{:>6}{answer}", answer.len());
            if last || stream.write_all(frame.as_bytes()).is_err() {
                return;
            }
        }
    }

    fn answer_2(&self, rank: u32, request: &str) -> (String, bool) {
        let pairs: HashMap<_, _> = request
            .split_terminator(';')
            .filter_map(|p| p.split_once('='))
            .collect();
        let command = pairs["cmd"];
        self.seen.lock().unwrap().push(format!("{rank} {command}"));
        let found = |value: Option<&str>| match value {
            Some(value) => format!("found=TRUE;value={value};"),
            None => "found=FALSE;".to_string(),
        };
        let answer = match command {
            "fullinit" => format!("rank={};size={};appnum=-1;", pairs["pmirank"], self.size),
            "info-getjobattr" => found(match pairs["key"] {
                "PMI_process_mapping" => Some(self.mapping),
                "universeSize" => Some("9"),
                other => panic!("{other}"),
            }),
            "kvs-put" => {
                assert!(pairs["key"].len() < 64 && pairs["value"].len() < self.limit);
                let mut space = self.space.lock().unwrap();
                space.insert(pairs["key"].to_string(), pairs["value"].to_string());
                String::new()
            }
            "kvs-get" => {
                let space = self.space.lock().unwrap();
                found(space.get(pairs["key"]).map(String::as_str))
            }
            "kvs-fence" => {
                self.barrier.wait();
                String::new()
            }
            "finalize" => String::new(),
            "abort" => return (String::new(), true),
            other => panic!("{other}"),
        };
        (format!("cmd={command}-response;rc=0;{answer}"), false)
    }

    /// The variables of a rank whose requests a thread answers.
    fn environment(self: &Arc<Self>, rank: u32) -> HashMap<&'static str, String> {
        let (theirs, ours) = UnixStream::pair().unwrap();
        let pmi = Arc::clone(self);
        thread::spawn(move || pmi.serve(rank, ours));
        HashMap::from([
            ("PMI_FD", theirs.into_raw_fd().to_string()),
            ("PMI_RANK", rank.to_string()),
            ("PMI_SIZE", self.size.to_string()),
        ])
    }
}

fn open(vars: &HashMap<&'static str, String>) -> Result<Direct, BootError> {
    let env = |name: &str| vars.get(name).cloned();
    assert_eq!(offers(env), [Protocol::Pmi1]);
    Direct::open(&offers(env), env)
}

/// Runs `rank` in a thread per rank.
fn job<T: Send + 'static>(
    pmi: &Arc<Pmi>,
    rank: impl Fn(Direct) -> T + Clone + Send + 'static,
) -> Vec<T> {
    let spawn = |number| -> JoinHandle<T> {
        let (vars, rank) = (pmi.environment(number), rank.clone());
        thread::spawn(move || rank(open(&vars).unwrap()))
    };
    let threads: Vec<_> = (0..pmi.size).map(spawn).collect();
    threads.into_iter().map(|t| t.join().unwrap()).collect()
}

#[test]
fn ranks_learn_the_job_and_exchange_values() {
    let pmi = Pmi::new(5, 64, "(vector,(0,2,2),(2,1,1))");
    let ids = job(&pmi, |mut boot| {
        let me = boot.job().rank;
        assert_eq!(*boot.job().node_of, [0, 0, 1, 1, 2]);
        assert_eq!((boot.job().appnum, boot.job().universe_size), (me % 2, 5));
        assert_eq!(boot.job().psets[1], ("app://1".to_string(), vec![1, 3]));
        for round in 0..10u8 {
            boot.put("card", &[me as u8, round]).unwrap();
            boot.put("long", &vec![me as u8; 1000 * usize::from(round)])
                .unwrap();
            boot.begin_fence().unwrap();
            assert!(matches!(boot.begin_fence(), Err(BootError::Fence)));
            if round % 2 == 0 {
                boot.end_fence().unwrap();
            } else {
                while !boot.fence_done().unwrap() {
                    thread::yield_now();
                }
            }
            for other in 0..5 {
                let card = boot.get(other, "card").unwrap().unwrap();
                assert_eq!(card, [other as u8, round]);
                let long = boot.get(other, "long").unwrap().unwrap();
                assert_eq!(long, vec![other as u8; 1000 * usize::from(round)]);
            }
            // Nobody puts the next before all have read.
            boot.fence().unwrap();
        }
        assert_eq!(boot.get(4, "none").unwrap(), None);
        assert!(matches!(
            boot.get(5, "card"),
            Err(BootError::NoSuchRank { .. })
        ));
        assert!(matches!(boot.fence_done(), Err(BootError::Fence)));
        boot.end().unwrap();
        boot.end().unwrap();
        (boot.job().job_id, boot.job().secret.clone())
    });
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert!(ids[0].1.is_some(), "rank 0 has made a secret for all");
    let seen = pmi.seen.lock().unwrap();
    assert_eq!(seen.iter().filter(|s| s.ends_with("finalize")).count(), 5);
}

#[test]
fn what_is_published_lasts_until_all_have() {
    let pmi = Pmi::new(3, 64, "(vector,(0,3,1))");
    job(&pmi, |mut boot| {
        let me = boot.job().rank;
        boot.publish("link", &[me as u8]).unwrap();
        assert!(matches!(boot.begin_fence(), Err(BootError::Fence)));
        while boot.ask(boot.job().job_id, me, "link").unwrap().is_none() {
            thread::yield_now();
        }
        // The question does not end a fence that is somebody else's.
        boot.begin_fence().unwrap();
        for other in 0..3 {
            assert_eq!(boot.ask(boot.job().job_id, other, "link").unwrap(), None);
        }
        while !boot.fence_done().unwrap() {
            thread::yield_now();
        }
        for other in 0..3 {
            let link = boot.ask(boot.job().job_id, other, "link").unwrap();
            assert_eq!(link.as_deref(), Some(&[other as u8][..]));
        }
        boot.end().unwrap();
    });
}

#[test]
fn ranks_of_a_node_share_memory() {
    let pmi = Pmi::new(3, 1024, "(vector,(0,1,2),(1,1,1))");
    job(&pmi, |mut boot| {
        let me = boot.job().rank;
        let segment = boot.take_segment().unwrap().map(File::from);
        assert_eq!(segment.is_some(), me < 2);
        if let (0, Some(file)) = (me, &segment) {
            file.write_all_at(b"from 0", 4096).unwrap();
        }
        boot.fence().unwrap();
        if let Some(file) = &segment {
            let mut bytes = [0; 6];
            file.read_exact_at(&mut bytes, 4096).unwrap();
            assert_eq!(&bytes, b"from 0");
        }
        // Rank 0's file is open in the others.
        boot.fence().unwrap();
    });
}

#[test]
fn what_is_no_mapping_leaves_the_kernel_to_tell() {
    let pmi = Pmi::new(2, 1024, "(vector,(0,1)");
    let local = job(&pmi, |boot| boot.job().local.to_vec());
    assert_eq!(local, [[0, 1], [0, 1]]);
}

#[test]
fn a_port_serves_as_well_as_a_descriptor() {
    let pmi = Pmi::new(1, 256, "(vector,(0,1,1))");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().to_string();
    let server = Arc::clone(&pmi);
    let serving = thread::spawn(move || server.serve(0, listener.accept().unwrap().0));
    let vars = HashMap::from([("PMI_PORT", port), ("PMI_ID", "0".to_string())]);
    let mut boot = open(&vars).unwrap();
    assert_eq!((boot.job().rank, boot.job().size), (0, 1));
    assert!(boot.take_segment().unwrap().is_none());
    boot.end().unwrap();
    serving.join().unwrap();
    assert_eq!(pmi.seen.lock().unwrap()[0], "0 initack");
}

#[test]
fn ranks_under_slurm_speak_its_version() {
    let pmi = Pmi::new(3, 1024, "(vector,(0,1,3))");
    let spawn = |rank| {
        let (theirs, ours) = UnixStream::pair().unwrap();
        let server = Arc::clone(&pmi);
        thread::spawn(move || server.serve_2(rank, ours));
        let vars = HashMap::from([
            ("PMI_FD", theirs.into_raw_fd().to_string()),
            ("PMI_RANK", rank.to_string()),
            ("PMI_SIZE", "3".to_string()),
            ("PMI_JOBID", "7.0".to_string()),
            ("SLURM_STEP_ID", "0".to_string()),
        ]);
        thread::spawn(move || {
            let env = |name: &str| vars.get(name).cloned();
            assert_eq!(offers(env), [Protocol::Pmi2]);
            let mut boot = Direct::open(&offers(env), env).unwrap();
            assert_eq!(*boot.job().local, [0, 1, 2]);
            assert_eq!((boot.job().universe_size, boot.job().appnum), (9, 0));
            boot.put("long", &[rank as u8; 5000]).unwrap();
            boot.fence().unwrap();
            for other in 0..3 {
                let long = boot.get(other, "long").unwrap();
                assert_eq!(long, Some(vec![other as u8; 5000]));
            }
            assert_eq!(boot.get(0, "none").unwrap(), None);
            assert!(
                boot.describe()
                    .iter()
                    .any(|(_, v)| v.starts_with("PMI 2.0"))
            );
            boot.end().unwrap();
        })
    };
    let threads: Vec<_> = (0..3).map(spawn).collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

#[test]
fn aborts_are_told() {
    let pmi = Pmi::new(2, 256, "");
    job(&pmi, |mut boot| {
        if boot.job().rank == 1 {
            boot.abort(7, "enough");
        }
    });
    let told = || pmi.seen.lock().unwrap().contains(&"1 abort".to_string());
    while !told() {
        thread::yield_now();
    }
}

#[test]
fn a_launcher_that_goes_or_talks_nonsense_is_an_error() {
    let error = |answers: &'static str| {
        let (theirs, mut ours) = UnixStream::pair().unwrap();
        ours.write_all(answers.as_bytes()).unwrap();
        ours.shutdown(std::net::Shutdown::Write).unwrap();
        let vars = HashMap::from([
            ("PMI_FD", theirs.into_raw_fd().to_string()),
            ("PMI_RANK", "0".to_string()),
            ("PMI_SIZE", "2".to_string()),
        ]);
        let error = open(&vars).err().expect("an error");
        drop(ours);
        error.to_string()
    };
    assert!(error("").contains("has ended"));
    let text = error("hello\n");
    assert!(
        text.contains("instead of response_to_init it said: hello"),
        "{text}"
    );
    assert!(
        text.contains("mpirun") && text.contains("CATENA_SINGLETON=1"),
        "{text}"
    );
}

#[test]
fn a_closed_descriptor_and_odd_ranks_are_told() {
    let file = File::open("/dev/null").unwrap().into_raw_fd();
    for (fd, rank, says) in [
        ("999999", "0", "descriptor 999999 by PMI_FD, cannot be used"),
        (&file.to_string(), "0", "by PMI_FD, cannot be used"),
        ("x", "0", "no PMI_FD"),
    ] {
        let vars = HashMap::from([
            ("PMI_FD", fd.to_string()),
            ("PMI_RANK", rank.to_string()),
            ("PMI_SIZE", "2".to_string()),
        ]);
        let error = open(&vars).err().expect("an error").to_string();
        assert!(error.contains(says), "{error}");
    }
    let vars = HashMap::from([
        (
            "PMI_FD",
            UnixStream::pair().unwrap().0.into_raw_fd().to_string(),
        ),
        ("PMI_RANK", "2".to_string()),
        ("PMI_SIZE", "2".to_string()),
    ]);
    let error = open(&vars).err().expect("an error").to_string();
    assert!(error.contains("rank 2 of 2"), "{error}");
}
