//! PMI-1: lines of `name=value` between blanks, over a socket whose descriptor
//! is in `PMI_FD`, or whose address is in `PMI_PORT`. Every request has one
//! answer; that of a barrier comes when all are there.
//!
//! Spoken by Hydra (MPICH, Intel MPI, MVAPICH) and Slurm's plugin `pmi2`.

use std::net::TcpStream;
use std::os::fd::{OwnedFd, RawFd};

use super::stream::Stream;
use super::{About, Manager, mapping, parts};
use crate::BootError;

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line(Vec<(String, String)>);

impl Line {
    /// Reads a line, with or without its end.
    fn parse(bytes: &[u8]) -> Line {
        let text = String::from_utf8_lossy(bytes);
        let pairs = text.split_ascii_whitespace();
        Line(
            pairs
                .filter_map(|pair| pair.split_once('='))
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
        )
    }

    fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        pairs.find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// Whether the request succeeded.
    fn is_good(&self) -> bool {
        self.get("rc").is_none_or(|rc| rc == "0")
    }
}

/// Where the first line ends.
fn cut(bytes: &[u8]) -> Result<Option<usize>, BootError> {
    Ok(bytes.iter().position(|&b| b == b'\n').map(|at| at + 1))
}

/// A connection.
#[derive(Debug)]
pub(super) struct Pmi1 {
    stream: Stream,
    about: About,
    version: String,
    /// The variable that named the connection.
    place: &'static str,
    /// Name of the space that keys are put into.
    space: String,
    /// Longest value, characters.
    limit: usize,
    gone: bool,
}

impl Pmi1 {
    /// Connects as the environment says.
    pub fn connect(env: impl Fn(&str) -> Option<String>) -> Result<Pmi1, BootError> {
        let number = |name: &str| env(name).and_then(|text| text.trim().parse::<u32>().ok());
        let port = env("PMI_PORT").filter(|_| env("PMI_FD").is_none());
        let (stream, rank, size) = match &port {
            None => (Stream::given(&env)?, number("PMI_RANK"), number("PMI_SIZE")),
            Some(port) => {
                let unreachable = |error| {
                    BootError::Manager(format!("PMI_PORT={port} cannot be reached ({error})"))
                };
                let socket = TcpStream::connect(port).map_err(unreachable)?;
                let mut stream = Stream::new(OwnedFd::from(socket).into());
                let id = number("PMI_ID").unwrap_or(0);
                let (rank, size) = introduce(&mut stream, id)?;
                (stream, rank, size)
            }
        };
        let (Some(rank), Some(size)) = (rank, size) else {
            let cause = "it told neither rank nor size (PMI_RANK, PMI_SIZE)";
            return Err(BootError::Manager(cause.to_string()));
        };
        let mut pmi = Pmi1 {
            stream,
            about: About::new(rank, size)?,
            version: String::new(),
            place: if port.is_some() { "PMI_PORT" } else { "PMI_FD" },
            space: String::new(),
            limit: 0,
            gone: false,
        };
        pmi.learn()?;
        Ok(pmi)
    }

    /// Asks for all that does not change.
    fn learn(&mut self) -> Result<(), BootError> {
        let answer = self.ask("init pmi_version=1 pmi_subversion=1", "response_to_init")?;
        let part = |name| answer.get(name).unwrap_or("?").to_string();
        self.version = format!("{}.{}", part("pmi_version"), part("pmi_subversion"));
        let answer = self.ask("get_maxes", "maxes")?;
        self.limit = answer.number("vallen_max").unwrap_or(256_usize);
        // The end of a C string counts.
        self.limit = self.limit.saturating_sub(1);
        let answer = self.ask("get_appnum", "appnum")?;
        self.about.appnum = answer.number("appnum").unwrap_or(0);
        let answer = self.ask("get_universe_size", "universe_size")?;
        self.about.universe_size = answer.number("size");
        let answer = self.ask("get_my_kvsname", "my_kvsname")?;
        self.space = answer.get("kvsname").unwrap_or_default().to_string();
        let mapping = self.get_text("PMI_process_mapping")?;
        self.about.nodes = mapping.and_then(|text| mapping::nodes(&text, self.about.size));
        Ok(())
    }

    fn say(&mut self, request: &str) -> Result<(), BootError> {
        self.stream.send(format!("cmd={request}\n").as_bytes())
    }

    /// Takes the answer `expected`, if it has come or `wait` is set.
    fn take(&mut self, expected: &str, wait: bool) -> Result<Option<Line>, BootError> {
        let Some(bytes) = self.stream.next(cut, wait)? else {
            return Ok(None);
        };
        let line = Line::parse(&bytes);
        match line.get("cmd") {
            Some(cmd) if cmd == expected => Ok(Some(line)),
            _ => {
                let text = String::from_utf8_lossy(&bytes);
                let cause = format!("instead of {expected} it said: {}", text.trim_end());
                Err(BootError::Manager(cause))
            }
        }
    }

    fn ask(&mut self, request: &str, expected: &str) -> Result<Line, BootError> {
        self.say(request)?;
        let answer = self.take(expected, true)?;
        Ok(answer.expect("a waiting read returns a line"))
    }

    fn get_text(&mut self, key: &str) -> Result<Option<String>, BootError> {
        let request = format!("get kvsname={} key={key}", self.space);
        let answer = self.ask(&request, "get_result")?;
        let value = answer.get("value").filter(|_| answer.is_good());
        Ok(value.map(str::to_string))
    }
}

/// Says who this process is, over `PMI_PORT`, and learns rank and size.
fn introduce(stream: &mut Stream, id: u32) -> Result<(Option<u32>, Option<u32>), BootError> {
    stream.send(format!("cmd=initack pmiid={id}\n").as_bytes())?;
    let (mut rank, mut size) = (None, None);
    while rank.is_none() || size.is_none() {
        let line = stream.next(cut, true)?.expect("a waiting read");
        let line = Line::parse(&line);
        match line.get("cmd") {
            Some("initack") if line.is_good() => {}
            Some("set") => {
                rank = rank.or(line.number("rank"));
                size = size.or(line.number("size"));
            }
            _ => return Err(BootError::Manager("it does not take this process".into())),
        }
    }
    // The last one says whether to debug.
    stream.next(cut, true)?;
    Ok((rank, size))
}

impl Manager for Pmi1 {
    fn about(&self) -> &About {
        &self.about
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let Pmi1 { version, place, .. } = self;
        vec![("protocol", format!("PMI {version}, over {place}"))]
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        for (key, text) in parts::split(key, value, self.limit) {
            let request = format!("put kvsname={} key={key} value={text}", self.space);
            let answer = self.ask(&request, "put_result")?;
            if !answer.is_good() {
                let cause = answer.get("msg").unwrap_or("without a reason");
                return Err(BootError::Manager(format!("it refused {key}: {cause}")));
            }
        }
        Ok(())
    }

    fn get(&mut self, _: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        parts::join(key, |key| self.get_text(key))
    }

    fn begin_fence(&mut self) -> Result<(), BootError> {
        self.say("barrier_in")
    }

    fn fence_done(&mut self, wait: bool) -> Result<bool, BootError> {
        Ok(self.take("barrier_out", wait)?.is_some())
    }

    fn descriptor(&self) -> Option<RawFd> {
        Some(self.stream.fd())
    }

    fn misses_silent_ends(&self) -> bool {
        // Hydra ends the job if the connection closes before it has reaped the process. Both
        // come at once, and in about one of a hundred jobs it reaps first.
        true
    }

    fn abort(&mut self, code: i32, _: &str) {
        // If it fails, the launcher learns from this process's status.
        let _ = self.say(&format!("abort exitcode={code}"));
    }

    fn depart(&mut self) -> Result<(), BootError> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        self.ask("finalize", "finalize_ack").map(drop)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_read() {
        let line = Line::parse(b"cmd=get_result rc=0 msg=success value=(vector,(0,1,2)) \n");
        assert_eq!(line.get("cmd"), Some("get_result"));
        assert_eq!(line.get("value"), Some("(vector,(0,1,2))"));
        assert_eq!(line.number("rc"), Some(0));
        assert!(line.is_good());
        assert!(!Line::parse(b"cmd=x rc=-1").is_good());
        assert_eq!(
            Line::parse(b"cmd=universe_size size=-1").number::<u32>("size"),
            None
        );
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let line = Line::parse(&bytes);
            prop_assert!(line.0.len() <= bytes.len());
            if let Ok(Some(end)) = cut(&bytes) {
                prop_assert_eq!(bytes[end - 1], b'\n');
            }
        }
    }
}
