//! `catena top --web`: the frames in a browser on this host.
//!
//! One thread looks at the jobs, another one serves: a launcher that does not answer holds no
//! browser up, and no browser the looks. A connection has one request and one answer, little memory
//! and little time; where there are too many, the oldest one goes. What they can do is read.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::find::Finder;
use crate::frame::JobFrame;
use crate::http::{self, Answer, LONGEST, Token};
use crate::json;

/// Most connections at a time.
const CONNECTIONS: usize = 32;

/// How long a connection may take to ask, and as long again to take its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an answered connection may go on saying something: closed before, it would lose the
/// answer.
const LINGER: Duration = Duration::from_secs(1);

/// What the looks have shown last, as JSON.
type Shown = Mutex<Arc<[u8]>>;

/// Serves frames until a signal ends it; the status.
pub fn serve(mut finder: Finder, port: u16, every: Duration) -> i32 {
    let opened = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?.port(), listener, Token::new()?))
    });
    let (port, listener, token) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            catena_base::tell!(
                "catena top: port {port} of this host cannot be served: {error}; without a number \
                 `--web` takes a free one"
            );
            return 1;
        }
    };
    let digits = token.digits();
    let said = writeln!(
        io::stdout(),
        "http://127.0.0.1:{port}/?token={digits}\n\
         Open this address in a browser on this host; Ctrl-C ends it. From elsewhere: \
         ssh -L {port}:127.0.0.1:{port} {}",
        catena_boot::host_name()
    );
    if let Err(error) = said {
        catena_base::tell!("catena top: its address cannot be written: {error}");
        return 1;
    }
    let shown: Shown = Mutex::new(json::line(&[]).into_bytes().into());
    thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                let began = Instant::now();
                let frames: Vec<JobFrame> = finder.look().iter().map(JobFrame::of).collect();
                let line: Arc<[u8]> = json::line(&frames).into_bytes().into();
                *shown.lock().unwrap_or_else(PoisonError::into_inner) = line;
                thread::sleep(every.saturating_sub(began.elapsed()));
            }
        });
        let mut server = Server {
            listener,
            token,
            connections: Vec::new(),
            is_full: false,
        };
        loop {
            if let Err(error) = server.turn(&shown) {
                catena_base::tell!("catena top: the page cannot be served any more: {error}");
                // The other thread never ends.
                std::process::exit(1);
            }
        }
    })
}

/// What a connection does.
enum Stage {
    /// It is asking: these bytes have come so far.
    Asks(Vec<u8>),
    /// It is given this answer, and so many of its bytes have left.
    Takes(Answer, usize),
    /// It has been answered.
    Lingers,
}

/// A connection.
struct Connection {
    socket: TcpStream,
    stage: Stage,
    /// When it is closed whatever it does.
    until: Instant,
}

/// Whether a connection goes on.
#[derive(PartialEq, Eq)]
enum Goes {
    On,
    Over,
}

impl Connection {
    fn new(socket: TcpStream) -> Connection {
        Connection {
            socket,
            stage: Stage::Asks(Vec::new()),
            until: Instant::now() + PATIENCE,
        }
    }

    fn awaits(&self) -> PollFlags {
        match self.stage {
            Stage::Takes(..) => PollFlags::OUT,
            Stage::Asks(_) | Stage::Lingers => PollFlags::IN,
        }
    }

    /// Goes as far as it can without waiting.
    fn go(&mut self, token: &Token, shown: &Shown) -> io::Result<Goes> {
        loop {
            match &mut self.stage {
                Stage::Asks(said) => {
                    let mut bytes = [0; 2048];
                    let room = bytes.len().min(LONGEST - said.len());
                    match self.socket.read(&mut bytes[..room])? {
                        0 => return Ok(Goes::Over),
                        len => said.extend_from_slice(&bytes[..len]),
                    }
                    let jobs = Arc::clone(&shown.lock().unwrap_or_else(PoisonError::into_inner));
                    if let Some(answer) = http::answer(said, token, &jobs) {
                        self.stage = Stage::Takes(answer, 0);
                        self.until = Instant::now() + PATIENCE;
                    }
                }
                Stage::Takes(answer, gone) => {
                    let part = match answer.head.get(*gone..) {
                        Some(rest) if !rest.is_empty() => rest,
                        _ => &answer.body[*gone - answer.head.len()..],
                    };
                    if part.is_empty() {
                        self.socket.shutdown(Shutdown::Write)?;
                        self.stage = Stage::Lingers;
                        self.until = Instant::now() + LINGER;
                        continue;
                    }
                    *gone += self.socket.write(part)?;
                }
                Stage::Lingers => {
                    if self.socket.read(&mut [0; 2048])? == 0 {
                        return Ok(Goes::Over);
                    }
                }
            }
            // Others have a turn, too, where one never stops talking.
            if matches!(self.stage, Stage::Lingers) {
                return Ok(Goes::On);
            }
        }
    }
}

/// The listener and its connections; the oldest one comes first.
struct Server {
    listener: TcpListener,
    token: Token,
    connections: Vec<Connection>,
    /// Whether this process may open no further files, so that nobody is let in just now.
    is_full: bool,
}

impl Server {
    /// Waits for something to do, and does it.
    ///
    /// # Errors
    /// If the listener is broken.
    fn turn(&mut self, shown: &Shown) -> io::Result<()> {
        let now = Instant::now();
        self.connections.retain(|it| it.until > now);
        let next = self.connections.iter().map(|it| it.until - now).min();
        let next = match self.is_full {
            true => Some(next.unwrap_or(LINGER).min(LINGER)),
            false => next,
        };
        let next = next.map(|it| Timespec {
            tv_sec: it.as_secs() as i64,
            tv_nsec: i64::from(it.subsec_nanos()),
        });
        let door = match self.is_full {
            true => PollFlags::empty(),
            false => PollFlags::IN,
        };
        let mut awaited = vec![PollFd::new(&self.listener, door)];
        let each = self.connections.iter();
        awaited.extend(each.map(|it| PollFd::new(&it.socket, it.awaits())));
        match poll(&mut awaited, next.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = awaited.iter().map(|it| !it.revents().is_empty());
        let ready: Vec<bool> = ready.collect();
        let mut its = ready[1..].iter();
        let token = &self.token;
        self.connections.retain_mut(|it| {
            !its.next().is_some_and(|&is_ready| is_ready)
                || match it.go(token, shown) {
                    Ok(goes) => goes == Goes::On,
                    Err(error) => matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    ),
                }
        });
        self.is_full = false;
        if ready[0] {
            self.let_in()?;
        }
        Ok(())
    }

    /// Takes in who has come, at most as many as there may be at a time.
    fn let_in(&mut self) -> io::Result<()> {
        for _ in 0..CONNECTIONS {
            let socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Ok(()),
                    // Who came has gone.
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => continue,
                    io::ErrorKind::InvalidInput => return Err(error),
                    _ => {
                        // No file, or no memory, is left: those that are here are served first.
                        self.is_full = true;
                        return Ok(());
                    }
                },
            };
            if socket.set_nonblocking(true).is_err() {
                continue;
            }
            if self.connections.len() == CONNECTIONS {
                self.connections.remove(0);
            }
            self.connections.push(Connection::new(socket));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    /// A server that is given turns until `done`, which is called after each.
    struct Served {
        server: Server,
        shown: Shown,
        at: SocketAddr,
    }

    impl Served {
        fn new(jobs: Vec<u8>) -> Served {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            listener.set_nonblocking(true).unwrap();
            let at = listener.local_addr().unwrap();
            let server = Server {
                listener,
                token: Token::new().unwrap(),
                connections: Vec::new(),
                is_full: false,
            };
            let shown = Mutex::new(jobs.into());
            Served { server, shown, at }
        }

        fn connect(&self) -> TcpStream {
            TcpStream::connect(self.at).unwrap()
        }

        fn request(&self) -> String {
            let token = self.server.token.digits();
            format!("GET /jobs?token={token} HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }

        /// The whole answer to a request.
        fn answer(&mut self, request: &str) -> String {
            let mut socket = self.connect();
            socket.write_all(request.as_bytes()).unwrap();
            let asker = thread::spawn(move || {
                let mut answer = String::new();
                socket.read_to_string(&mut answer).map(|_| answer)
            });
            while !asker.is_finished() {
                self.server.turn(&self.shown).unwrap();
            }
            asker.join().unwrap().unwrap()
        }
    }

    #[test]
    fn who_never_ends_a_request_holds_nobody_up() {
        let mut served = Served::new(b"{}".to_vec());
        let idle: Vec<TcpStream> = (0..100)
            .map(|_| {
                let mut socket = served.connect();
                socket.write_all(b"GET / HT").unwrap();
                socket
            })
            .collect();
        let request = served.request();
        assert!(served.answer(&request).ends_with("\r\n\r\n{}"));
        assert!(served.server.connections.len() <= CONNECTIONS);
        drop(idle);
    }

    #[test]
    fn who_does_not_read_holds_nobody_up() {
        // More than the kernel keeps for a connection.
        let mut served = Served::new(vec![b'x'; 64 << 20]);
        let request = served.request();
        let mut slow: Vec<TcpStream> = (0..3).map(|_| served.connect()).collect();
        for socket in &mut slow {
            socket.write_all(request.as_bytes()).unwrap();
        }
        *served.shown.lock().unwrap() = b"{}".as_slice().into();
        assert!(served.answer(&request).ends_with("\r\n\r\n{}"));
    }

    #[test]
    fn the_time_of_a_connection_ends() {
        let mut served = Served::new(b"{}".to_vec());
        let _idle = served.connect();
        while served.server.connections.is_empty() {
            served.server.turn(&served.shown).unwrap();
        }
        served.server.connections[0].until = Instant::now();
        let request = served.request();
        assert!(served.answer(&request).ends_with("{}"));
        let now = Instant::now();
        assert!(served.server.connections.iter().all(|it| it.until > now));
    }

    #[test]
    fn a_huge_head_is_refused_and_not_kept() {
        let mut served = Served::new(b"{}".to_vec());
        let request = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(20 * LONGEST));
        let answer = served.answer(&request);
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
}
