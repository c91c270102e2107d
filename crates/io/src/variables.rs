//! What tools can read of files: the [counters](crate::counters), of each file and of all.

use std::sync::atomic::Ordering::Relaxed;

use catena_abi::File;
use catena_core::variables::{Area, Audience, Class, Pvar};
use catena_objects::table::ObjectKind;

use crate::counters::{self, FileCounters, Which};

/// Lists the variables.
pub(crate) fn list(all: &mut Vec<Pvar>) {
    let mut area = Area::new(all, "files", Audience::User);
    let doc = "Files that were opened.";
    let opened = |_: &_| counters::opened();
    area.of_process(Class::Counter, "files_opened", doc, opened);
    for (class, name, doc, which) in SUMS {
        let is_time = matches!(class, Class::Timer);
        let told = move |value| match is_time {
            true => counters::nanoseconds(value),
            false => value,
        };
        let (of_all, of_one) = (format!("files_{name}"), format!("file_{name}"));
        let total = move |_: &_| told(counters::total(which));
        area.of_process(class, &of_all, &doc.replace('@', "files"), total);
        let doc = doc.replace('@', "the file");
        of_file(&mut area, class, &of_one, &doc, move |it| {
            told(it.get(which))
        });
    }
    let doc =
        "Members that went to the file for all in the last collective call that exchanged bytes.";
    let read = |it: &FileCounters| it.aggregators.load(Relaxed);
    of_file(&mut area, Class::Level, "file_aggregators", doc, read);
}

/// Lists one that is a number of each open file.
fn of_file(
    area: &mut Area<'_>,
    class: Class,
    name: &str,
    doc: &str,
    read: impl Fn(&FileCounters) -> u64 + Send + Sync + 'static,
) {
    area.of_object(class, name, doc, ObjectKind::File, move |_, handle| {
        counters::of(File(handle)).map(|it| read(&it))
    });
}

/// What is counted of each file, and of all together: how, its name, what it tells with `@` in
/// place of the file, and where it stands.
const SUMS: [(Class, &str, &str, Which); 7] = [
    (
        Class::Aggregate,
        "read_bytes",
        "Bytes that were read from @, without gaps.",
        |it| &it.read,
    ),
    (
        Class::Aggregate,
        "gap_bytes",
        "Bytes of @ that were read because they lie between those that were asked for.",
        |it| &it.gaps,
    ),
    (
        Class::Aggregate,
        "written_bytes",
        "Bytes that were written to @.",
        |it| &it.written,
    ),
    (
        Class::Counter,
        "calls",
        "Runs of bytes of @ that were asked of file systems, each by a system call, or by more if \
         it moved less.",
        |it| &it.calls,
    ),
    (
        Class::Timer,
        "time",
        "Time that threads spent in reading and writing @. Of many short blocking calls every 16th \
         is timed, and stands for all.",
        |it| &it.time,
    ),
    (
        Class::Timer,
        "exchange_time",
        "Time that collective calls on @ spent in exchanging bytes with other members, without \
         that of reading and writing.",
        |it| &it.exchange,
    ),
    (
        Class::Aggregate,
        "sent_bytes",
        "Bytes that were sent to other hosts to be written to @, or were read from there for \
         these.",
        |it| &it.sent,
    ),
];
