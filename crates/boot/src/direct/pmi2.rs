//! PMI-2: messages of `name=value;` pairs behind their length in six decimal
//! digits, over a socket whose descriptor is in `PMI_FD`. Every request has one
//! answer; that of a fence comes when all are there.
//!
//! Spoken by Slurm's plugin `pmi2`. Its library `libpmi2` is not used: it is
//! seldom installed where programs run, and it can only wait for a fence.

use std::os::fd::RawFd;

use super::stream::Stream;
use super::{About, Manager, mapping, parts};
use crate::BootError;

/// Longest value, with the end of a C string; part of the protocol.
const MAX_VALUE: usize = 1024;

/// Digits of a length.
const DIGITS: usize = 6;

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Message(Vec<(String, String)>);

impl Message {
    /// Reads a message, its length included. A semicolon within a value stands
    /// twice.
    fn parse(bytes: &[u8]) -> Message {
        let text = String::from_utf8_lossy(bytes.get(DIGITS..).unwrap_or_default());
        let mut pairs = Vec::new();
        let mut pair = String::new();
        let mut rest = text.chars().peekable();
        while let Some(letter) = rest.next() {
            if letter != ';' || rest.next_if_eq(&';').is_some() {
                pair.push(letter);
                continue;
            }
            if let Some((name, value)) = pair.split_once('=') {
                pairs.push((name.to_string(), value.to_string()));
            }
            pair.clear();
        }
        Message(pairs)
    }

    fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        pairs.find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// The value of an answer that says whether there is one.
    fn found(&self) -> Option<&str> {
        let value = self.get("value");
        value.filter(|_| {
            self.get("found")
                .is_some_and(|f| f.eq_ignore_ascii_case("true"))
        })
    }
}

/// Where the first message ends.
fn cut(bytes: &[u8]) -> Result<Option<usize>, BootError> {
    let Some(digits) = bytes.get(..DIGITS) else {
        return Ok(None);
    };
    let len = str::from_utf8(digits).ok();
    let len = len.and_then(|text| text.trim().parse::<usize>().ok());
    let len = len.ok_or_else(|| BootError::Manager("a message without a length".to_string()))?;
    Ok(Some(DIGITS + len).filter(|&end| end <= bytes.len()))
}

/// Where the first line ends.
fn cut_line(bytes: &[u8]) -> Result<Option<usize>, BootError> {
    Ok(bytes.iter().position(|&b| b == b'\n').map(|at| at + 1))
}

/// A connection.
#[derive(Debug)]
pub(super) struct Pmi2 {
    stream: Stream,
    about: About,
    version: String,
    job: String,
    gone: bool,
}

impl Pmi2 {
    /// Connects as the environment says.
    pub fn connect(env: impl Fn(&str) -> Option<String>) -> Result<Pmi2, BootError> {
        let mut stream = Stream::given(&env)?;
        // Both versions begin with a line of version 1.
        stream.send(b"cmd=init pmi_version=2 pmi_subversion=0\n")?;
        let answer = stream.next(cut_line, true)?.unwrap_or_default();
        let answer = String::from_utf8_lossy(&answer);
        let part = |name: &str| {
            let mut pairs = answer.split_ascii_whitespace();
            pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
        };
        if part("pmi_version") != Some("2") || part("rc") != Some("0") {
            let cause = format!("asked for PMI-2, it said: {}", answer.trim_end());
            return Err(BootError::Manager(cause));
        }
        let version = format!("2.{}", part("pmi_subversion").unwrap_or("0"));
        let rank = env("PMI_RANK").unwrap_or_default();
        let job = env("PMI_JOBID").unwrap_or_default();
        let mut pmi = Pmi2 {
            stream,
            about: About::new(0, 1)?,
            version,
            job,
            gone: false,
        };
        let request = format!(
            "fullinit;pmijobid={};pmirank={rank};threaded=FALSE",
            pmi.job
        );
        let answer = pmi.ask(&request, "fullinit-response")?;
        let (Some(rank), Some(size)) = (answer.number("rank"), answer.number("size")) else {
            let cause = "it told neither rank nor size";
            return Err(BootError::Manager(cause.to_string()));
        };
        pmi.about = About::new(rank, size)?;
        pmi.about.appnum = answer.number("appnum").unwrap_or(0);
        let universe = pmi.attribute("universeSize")?;
        pmi.about.universe_size = universe.and_then(|text| text.parse().ok());
        let mapping = pmi.attribute("PMI_process_mapping")?;
        pmi.about.nodes = mapping.and_then(|text| mapping::nodes(&text, size));
        Ok(pmi)
    }

    fn say(&mut self, request: &str) -> Result<(), BootError> {
        let body = format!("cmd={request};");
        self.stream
            .send(format!("{:>DIGITS$}{body}", body.len()).as_bytes())
    }

    /// Takes the answer `expected`, if it has come or `wait` is set.
    fn take(&mut self, expected: &str, wait: bool) -> Result<Option<Message>, BootError> {
        let Some(bytes) = self.stream.next(cut, wait)? else {
            return Ok(None);
        };
        let message = Message::parse(&bytes);
        let good = message.get("rc").is_none_or(|rc| rc == "0");
        if message.get("cmd") == Some(expected) && good {
            return Ok(Some(message));
        }
        let text = String::from_utf8_lossy(&bytes);
        let cause = format!("instead of a good {expected} it said: {}", text.trim());
        Err(BootError::Manager(cause))
    }

    fn ask(&mut self, request: &str, expected: &str) -> Result<Message, BootError> {
        self.say(request)?;
        let answer = self.take(expected, true)?;
        Ok(answer.expect("a waiting read returns a message"))
    }

    fn attribute(&mut self, key: &str) -> Result<Option<String>, BootError> {
        let request = format!("info-getjobattr;key={key}");
        let answer = self.ask(&request, "info-getjobattr-response")?;
        Ok(answer.found().map(str::to_string))
    }
}

impl Manager for Pmi2 {
    fn about(&self) -> &About {
        &self.about
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("protocol", format!("PMI {}, over PMI_FD", self.version))]
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        for (key, text) in parts::split(key, value, MAX_VALUE - 1) {
            self.ask(
                &format!("kvs-put;key={key};value={text}"),
                "kvs-put-response",
            )?;
        }
        Ok(())
    }

    fn get(&mut self, _: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        parts::join(key, |key| {
            let request = format!("kvs-get;jobid={};srcid=-1;key={key}", self.job);
            let answer = self.ask(&request, "kvs-get-response")?;
            Ok(answer.found().map(str::to_string))
        })
    }

    fn begin_fence(&mut self) -> Result<(), BootError> {
        self.say("kvs-fence")
    }

    fn fence_done(&mut self, wait: bool) -> Result<bool, BootError> {
        Ok(self.take("kvs-fence-response", wait)?.is_some())
    }

    fn descriptor(&self) -> Option<RawFd> {
        Some(self.stream.fd())
    }

    fn abort(&mut self, _: i32, _: &str) {
        // If it fails, the launcher learns from this process's status, which is
        // all that it is told of the code.
        let _ = self.say("abort;isworld=TRUE;msg=MPI_Abort");
    }

    fn depart(&mut self) -> Result<(), BootError> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        self.ask("finalize", "finalize-response").map(drop)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_are_read() {
        let bytes = b"    43cmd=kvs-get-response;rc=0;found=TRUE;value=a;;b;";
        assert_eq!(cut(bytes).unwrap(), Some(49));
        assert_eq!(cut(&bytes[..48]).unwrap(), None);
        assert!(cut(b"cmd=init").is_err());
        let message = Message::parse(bytes);
        assert_eq!(message.get("cmd"), Some("kvs-get-response"));
        assert_eq!(message.number("rc"), Some(0));
        let value = message.get("value");
        assert_eq!(value, Some("a;b"));
        assert_eq!(message.found(), value);
        assert_eq!(Message::parse(b"    20found=FALSE;value=x;").found(), None);
    }

    proptest! {
        #[test]
        fn values_survive(value in "[a-z;=]{0,20}[a-z]") {
            let body = format!("cmd=x;value={};", value.replace(';', ";;"));
            let message = Message::parse(format!("{:>6}{body}", body.len()).as_bytes());
            prop_assert_eq!(message.get("value"), Some(value.as_str()));
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let message = Message::parse(&bytes);
            prop_assert!(message.0.len() <= bytes.len());
            if let Ok(Some(end)) = cut(&bytes) {
                prop_assert!(end <= bytes.len());
            }
        }
    }
}
