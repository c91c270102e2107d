//! What a browser asks for, and what it is answered: a function of bytes, without a socket.
//!
//! Everything is refused that does not carry the token of the address that the user was shown, and
//! everything that was meant for another host: a page from elsewhere may have a browser ask here
//! under a name of its own, which the `Host` tells.

use std::hint::black_box;
use std::sync::Arc;

use httparse::{EMPTY_HEADER, Request, Status};
use rustix::rand::{GetRandomFlags, getrandom};

/// A request has at most so many bytes. Requests of browsers have less than 2 KiB.
pub const LONGEST: usize = 8 << 10;

/// Most lines of a request's head.
const LINES: usize = 64;

/// Random bytes of a token.
const RANDOM: usize = 16;

const PAGE: &str = include_str!("page.html");

/// Where the page has the number that its script and its style are known by.
const NONCE: &str = "{nonce}";

/// What the address has that the user was shown, in hexadecimal digits.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// If the kernel has no random numbers.
    pub fn new() -> std::io::Result<Token> {
        let mut bytes = [0; RANDOM];
        // So few come at once, or not at all.
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        Ok(Token(bytes.map(|byte| format!("{byte:02x}")).concat()))
    }

    /// Its digits.
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// Whether that is it. It takes as long for every text of its length, whatever the text has in
    /// common with it.
    fn is(&self, text: &str) -> bool {
        let pairs = self.0.bytes().zip(text.bytes());
        let differs = pairs.fold(0, |differs, (own, other)| {
            black_box(differs | (own ^ other))
        });
        self.0.len() == text.len() && differs == 0
    }
}

/// An answer: its head, and what follows.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The head, with its end.
    pub head: Vec<u8>,
    /// What follows it.
    pub body: Arc<[u8]>,
}

/// The answer to the bytes that have come so far; `None` if more are to come. `jobs` is the frame
/// that there is now, as JSON.
pub fn answer(bytes: &[u8], token: &Token, jobs: &Arc<[u8]>) -> Option<Answer> {
    let mut lines = [EMPTY_HEADER; LINES];
    let mut request = Request::new(&mut lines);
    match request.parse(bytes) {
        Ok(Status::Complete(_)) => {}
        Ok(Status::Partial) if bytes.len() < LONGEST => return None,
        Ok(Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            let text = "the head of the request is too long\n";
            return Some(told("431 Request Header Fields Too Large", text));
        }
        Err(error) => {
            let text = format!("this is no request of HTTP: {error}\n");
            return Some(told("400 Bad Request", &text));
        }
    }
    let mut hosts = request.headers.iter();
    let mut hosts = hosts
        .by_ref()
        .filter(|it| it.name.eq_ignore_ascii_case("host"));
    let host = hosts.next().map(|it| it.value);
    if hosts.next().is_some() || !host.is_some_and(is_loopback) {
        let text = "this page is at 127.0.0.1 or localhost only: open the address that \
                    `catena top --web` has shown\n";
        return Some(told("403 Forbidden", text));
    }
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let given = query.split('&').find_map(|it| it.strip_prefix("token="));
    if !given.is_some_and(|it| token.is(it)) {
        let text = "the token is missing or of another `catena top --web`: open the address that \
                    this one has shown\n";
        return Some(told("403 Forbidden", text));
    }
    if request.method != Some("GET") {
        return Some(told("405 Method Not Allowed", "there is only GET\n"));
    }
    Some(match path {
        "/" => page(),
        "/jobs" => Answer {
            head: head(
                "200 OK",
                "application/json",
                jobs.len(),
                "default-src 'none'",
            ),
            body: Arc::clone(jobs),
        },
        _ => told("404 Not Found", "there are / and /jobs\n"),
    })
}

/// Whether the host of a request is this one, by whatever port: a tunnel of ssh may have another.
fn is_loopback(host: &[u8]) -> bool {
    let host = host.to_ascii_lowercase();
    let is_port = |rest: &[u8]| match rest.split_first() {
        Some((b':', digits)) => digits.iter().all(u8::is_ascii_digit),
        Some(_) => false,
        None => true,
    };
    let names: [&[u8]; 3] = [b"127.0.0.1", b"localhost", b"[::1]"];
    let mut rests = names.iter().filter_map(|name| host.strip_prefix(*name));
    rests.any(is_port)
}

fn head(status: &str, kind: &str, len: usize, policy: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\n\
         Content-Type: {kind}; charset=utf-8\r\n\
         Content-Length: {len}\r\n\
         Connection: close\r\n\
         Cache-Control: no-store\r\n\
         Content-Security-Policy: {policy}; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\n\r\n"
    )
    .into_bytes()
}

/// A sentence.
fn told(status: &str, text: &str) -> Answer {
    Answer {
        head: head(status, "text/plain", text.len(), "default-src 'none'"),
        body: text.as_bytes().into(),
    }
}

/// The page, whose script and style alone the browser may follow.
fn page() -> Answer {
    let nonce = match Token::new() {
        Ok(nonce) => nonce.0,
        Err(error) => {
            let text = format!("the kernel has no random numbers: {error}\n");
            return told("503 Service Unavailable", &text);
        }
    };
    let text = PAGE.replace(NONCE, &nonce);
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; img-src data:"
    );
    Answer {
        head: head("200 OK", "text/html", text.len(), &policy),
        body: text.into_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head and the body of an answer, as text.
    fn asked(bytes: &[u8], token: &Token) -> Option<(String, String)> {
        let jobs: Arc<[u8]> = b"{\"jobs\":[]}".as_slice().into();
        let answer = answer(bytes, token, &jobs)?;
        let [head, body] = [answer.head, answer.body.to_vec()];
        Some((
            String::from_utf8(head).unwrap(),
            String::from_utf8(body).unwrap(),
        ))
    }

    fn status(bytes: &[u8], token: &Token) -> u32 {
        let (head, _) = asked(bytes, token).expect("the request is whole");
        head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    #[test]
    fn only_who_knows_the_token_is_answered() {
        let (token, other) = (Token::new().unwrap(), Token::new().unwrap());
        let get = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: localhost:1\r\n\r\n");
        let of = |target: &str| status(get(target).as_bytes(), &token);
        let own = token.digits();
        assert_eq!(own.len(), 2 * RANDOM);
        assert_eq!(of(&format!("/?token={own}")), 200);
        assert_eq!(of(&format!("/jobs?x=1&token={own}")), 200);
        assert_eq!(of(&format!("/other?token={own}")), 404);
        for wrong in [other.digits(), "", &own[1..], &format!("{own}0")] {
            assert_eq!(of(&format!("/jobs?token={wrong}")), 403);
        }
        assert_eq!((of("/"), of("/jobs"), of("/other")), (403, 403, 403));
        let post = get(&format!("/?token={own}")).replace("GET", "POST");
        assert_eq!(status(post.as_bytes(), &token), 405);
    }

    #[test]
    fn only_this_host_is_meant() {
        let token = Token::new().unwrap();
        let of = |lines: &str| {
            let target = format!("/jobs?token={}", token.digits());
            status(
                format!("GET {target} HTTP/1.1\r\n{lines}\r\n").as_bytes(),
                &token,
            )
        };
        for own in ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:80"] {
            assert_eq!(of(&format!("Host: {own}\r\n")), 200, "{own}");
        }
        for other in [
            "example.org",
            "localhost.example.org:80",
            "127.0.0.1.nip.io",
            "localhost:x",
            "",
        ] {
            assert_eq!(of(&format!("Host: {other}\r\n")), 403, "{other}");
        }
        assert_eq!(of(""), 403);
        assert_eq!(of("Host: localhost\r\nHost: localhost\r\n"), 403);
    }

    #[test]
    fn a_request_has_an_end() {
        let token = Token::new().unwrap();
        assert!(asked(b"GET / HTT", &token).is_none());
        assert!(asked(b"GET / HTTP/1.1\r\nHost: localhost\r\n", &token).is_none());
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(LONGEST));
        assert_eq!(status(long.as_bytes(), &token), 431);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: x\r\n".repeat(LINES + 1));
        assert_eq!(status(many.as_bytes(), &token), 431);
        assert_eq!(status(b"\x16\x03\x01\x02\x00\r\n\r\n", &token), 400);
    }

    #[test]
    fn a_page_takes_nothing_from_elsewhere() {
        let token = Token::new().unwrap();
        let get = format!(
            "GET /?token={} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            token.digits()
        );
        let (head, body) = asked(get.as_bytes(), &token).unwrap();
        let nonce = head.split("script-src 'nonce-").nth(1).unwrap();
        let nonce = nonce.split('\'').next().unwrap();
        assert_eq!(body.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
        assert!(head.contains("default-src 'none';") && head.contains("X-Content-Type-Options"));
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
        for outside in [
            "http:",
            "https:",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
        ] {
            assert!(!body.contains(outside), "{outside}");
        }
        let (_, again) = asked(get.as_bytes(), &token).unwrap();
        assert_ne!(body, again, "each page has its own number");
    }
}
