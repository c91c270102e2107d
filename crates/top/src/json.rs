//! A frame as JSON: one object in a line.
//!
//! Numbers that are not known are `null`; `*_per_s` are numbers in a second, `processor` and
//! `asleep` parts of one, `seconds` a time, `memory` and `shared` bytes.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use catena_hang::Member;
use catena_trace::quoted;

use crate::frame::{JobFrame, Rate, Rates, Row, Wait};

/// All jobs at this moment.
pub fn line(jobs: &[JobFrame]) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let jobs: Vec<_> = jobs.iter().map(job).collect();
    format!(
        "{{\"at\":{:.3},\"jobs\":[{}]}}",
        now.as_secs_f64(),
        jobs.join(",")
    )
}

fn number(number: Option<f64>) -> String {
    match number.filter(|it| it.is_finite()) {
        Some(number) => format!("{number:.3}"),
        None => "null".into(),
    }
}

fn list(each: impl Iterator<Item = String>) -> String {
    format!("[{}]", each.collect::<Vec<_>>().join(","))
}

fn rate(rate: Rate) -> String {
    let [messages, bytes] = [rate.messages, rate.bytes].map(|it| number(Some(it)));
    format!("{{\"messages_per_s\":{messages},\"bytes_per_s\":{bytes}}}")
}

fn job(job: &JobFrame) -> String {
    let mut text = String::from("{");
    let launcher = job.launcher.map_or("null".to_string(), |it| it.to_string());
    let (verdict, is_certain) = match &job.verdict {
        Some((verdict, is_certain)) => (quoted(verdict), *is_certain),
        None => ("null".into(), false),
    };
    let way = |of: fn(Rates) -> Rate| job.rates.map_or("null".into(), |it| rate(of(it)));
    let parts = [
        ("job", quoted(&job.job)),
        ("launcher", launcher),
        ("user", job.user.to_string()),
        ("program", quoted(&job.program)),
        ("ended", job.has_ended.to_string()),
        ("untold", quoted(&job.untold)),
        ("hosts", list(job.hosts.iter().map(|it| quoted(it)))),
        ("elsewhere", job.elsewhere.to_string()),
        ("verdict", verdict),
        ("definite", is_certain.to_string()),
        ("shm", way(|it| it.shm)),
        ("network", way(|it| it.network)),
        ("itself", way(|it| it.itself)),
        ("received", way(|it| it.received)),
        ("networks", quoted(&job.networks)),
        ("uncounted", job.uncounted.to_string()),
        ("waits", list(job.waits.iter().map(wait))),
        ("ranks", list(job.ranks.iter().map(row))),
    ];
    for (at, (name, value)) in parts.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\"{name}\":{value}");
    }
    text + "}"
}

fn wait(wait: &Wait) -> String {
    let ranks = |members: &[Member]| list(members.iter().map(|it| it.rank.to_string()));
    let parties = wait.parties.map_or("null".to_string(), |it| it.to_string());
    format!(
        "{{\"ranks\":{},\"for\":{},\"for_in_words\":{},\"call\":{},\"about\":{},\"parties\":{parties},\
         \"seconds\":{:.3}}}",
        ranks(&wait.who),
        ranks(&wait.whom),
        quoted(&wait.whom_in_words),
        quoted(&wait.call),
        quoted(&wait.about),
        wait.since.as_secs_f64()
    )
}

fn row(row: &Row) -> String {
    let bytes =
        |of: fn((u64, u64)) -> u64| row.memory.map_or("null".into(), |it| of(it).to_string());
    let way = |it: Option<Rate>| it.map_or("null".into(), rate);
    format!(
        "{{\"rank\":{},\"host\":{},\"pid\":{},\"state\":{},\"call\":{},\"for\":{},\"seconds\":{},\
         \"processor\":{},\"asleep\":{},\"calls_per_s\":{},\"shm\":{},\"network\":{},\"itself\":{},\
         \"received\":{},\"memory\":{},\"shared\":{},\"unexpected\":{}}}",
        quoted(&row.rank),
        quoted(&row.host),
        row.pid,
        quoted(row.stand.word()),
        quoted(&row.does),
        quoted(&row.whom),
        number(row.since.map(|it| it.as_secs_f64())),
        number(row.processor),
        number(row.asleep),
        number(row.calls),
        way(row.rates.map(|it| it.shm)),
        way(row.rates.map(|it| it.network)),
        way(row.rates.map(|it| it.itself)),
        way(row.rates.map(|it| it.received)),
        bytes(|it| it.0),
        bytes(|it| it.1),
        row.unexpected,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::tests::{glance, job as seen};

    #[test]
    fn a_frame_is_one_line() {
        let at = |second| seen(vec![Some(glance(0, second, 10 * second, "MPI_Send")), None]);
        let mut now = at(12);
        now.follow(&at(10));
        let text = line(&[JobFrame::of(&now)]);
        assert_eq!(text.lines().count(), 1);
        for part in [
            "\"job\":\"7\",\"launcher\":99,",
            "\"shm\":{\"messages_per_s\":10.000,\"bytes_per_s\":1048576.000}",
            "\"state\":\"runs\",\"call\":\"MPI_Send\",\"for\":\"\",\"seconds\":null,",
            "\"calls_per_s\":10.000",
            "{\"rank\":\"1\",\"host\":\"h0\",\"pid\":101,\"state\":\"starts\",",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let opened = text.matches(['{', '[']).count();
        assert_eq!(opened, text.matches(['}', ']']).count());
    }
}
