//! A rank's end of the connection, and what may come over it.

use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;

use super::*;

#[test]
fn places_survive_the_environment() {
    let place = LauncherAddress {
        socket: "catena-1-ab".to_string(),
        job: 0xfeed,
        rank: 7,
        cookie: [0xa5; 16],
    };
    assert_eq!(
        LauncherAddress::parse(&place.to_text()),
        Some(place.clone())
    );
    let text = place.to_text();
    for bad in [
        "",
        "1",
        "1:s:0:0:000000000000000000000000000000ff",
        "5:s:0:0:00",
        "5:s:0:x:000000000000000000000000000000ff",
        "5:s:0:0:0g0000000000000000000000000000ff",
        "5:s:0:0:éé000000000000000000000000000000",
        &format!("{text}0"),
        &format!("{text}:"),
        &text[..text.len() - 1],
    ] {
        assert_eq!(LauncherAddress::parse(bad), None, "{bad}");
    }
}

/// A launcher's socket with that name, and where it is.
fn listen(name: &str) -> (UnixListener, LauncherAddress) {
    let socket = format!("catena-test-{name}-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(socket.as_bytes()).unwrap();
    let place = LauncherAddress {
        socket,
        job: 0,
        rank: 0,
        cookie: [7; 16],
    };
    (UnixListener::bind_addr(&address).unwrap(), place)
}

/// Has a rank connect to a launcher that gives it `file` with its answer.
fn given(name: &str, file: File) -> Result<Client, BootError> {
    let (listener, place) = listen(name);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (socket, _) = listener.accept().unwrap();
            let mut hello = [0; 64];
            sys::receive(&socket, &mut hello, true).unwrap();
            let mut w = Writer::new(FrameKind::Welcome);
            Job::singleton("here".to_string(), 1).write(&mut w);
            sys::send(&socket, &w.finish(), Some(file.as_fd())).unwrap();
        });
        Client::connect(&place.to_text())
    })
}

#[test]
fn the_cookie_is_kept_from_strangers() {
    let Some((listener, place)) = sys::as_stranger(|| listen("stranger")) else {
        return;
    };
    let (error, heard) = std::thread::scope(|scope| {
        let heard = scope.spawn(|| {
            let (socket, _) = listener.accept().unwrap();
            sys::receive(&socket, &mut [0; 64], true).unwrap().0
        });
        let error = Client::connect(&place.to_text()).unwrap_err();
        (error, heard.join().unwrap())
    });
    assert_eq!(heard, 0, "bytes of the cookie");
    assert!(error.to_string().contains("of user 65534"), "{error}");
}

#[test]
fn memory_that_may_shrink_is_not_taken() {
    let sealed = File::from(sys::memfd(1 << 20).unwrap());
    let mut client = given("sealed", sealed).unwrap();
    assert!(client.take_segment().unwrap().is_some());
    // The launcher here is this process, no ancestor of it.
    assert_eq!(client.ancestor(), None);
    let open = File::open("/proc/self/status").unwrap();
    let error = given("open", open).unwrap_err();
    assert!(matches!(error, BootError::Unsound(_)), "{error}");
    if let Some(theirs) = sys::as_stranger(|| sys::memfd(1 << 20)) {
        let error = given("theirs", theirs.unwrap().into()).unwrap_err();
        assert!(error.to_string().contains("another user"), "{error}");
    }
}

/// A process that has no room for a descriptor loses that one, and those that follow are for what
/// they came with.
#[test]
fn a_descriptor_that_is_lost_does_not_shift_others() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut client = Client::over(ours, Job::singleton("here".to_string(), 1));
    let sizes = [1 << 20, 2 << 20, 3 << 20];
    for (job, size) in (1..).zip(sizes) {
        assert!(client.learn(job).unwrap().is_none());
        let met = Job {
            job_id: job,
            ..Job::singleton("here".to_string(), 1)
        };
        let mut frame = Writer::new(FrameKind::Told);
        OtherJob::write(&mut frame, job, Some(&met));
        let frame = OtherJob::complete(&frame.finish(), true, None);
        let memory = File::from(sys::memfd(size).unwrap());
        sys::send(&theirs, &frame, Some(memory.as_fd())).unwrap();
        client.read(true).unwrap();
        if job == 2 {
            // As the kernel tells of it.
            client.descriptors.back_mut().unwrap().0 = None;
        }
    }
    let mut size_of = |job| {
        let other = client.learn(job)?.expect("the answer has come");
        let file = File::from(other.segment.expect("its memory"));
        Ok::<_, BootError>(file.metadata().unwrap().len())
    };
    assert_eq!(size_of(3).unwrap(), sizes[2]);
    let error = size_of(2).unwrap_err();
    assert!(matches!(error, BootError::Descriptors), "{error}");
    assert_eq!(size_of(1).unwrap(), sizes[0]);
    // It may be asked for again.
    assert!(client.learn(2).unwrap().is_none());
}

#[test]
fn a_wrong_variable_is_told() {
    let error = Client::connect("nonsense").unwrap_err().to_string();
    assert!(
        error.starts_with("CATENA_BOOT=nonsense was not written"),
        "{error}"
    );
    let place = LauncherAddress {
        socket: "catena-no-such".to_string(),
        job: 0,
        rank: 0,
        cookie: [0; 16],
    };
    let error = Client::connect(&place.to_text()).unwrap_err().to_string();
    assert!(
        error.contains("cannot be reached") && error.contains("mpirun"),
        "{error}"
    );
}
