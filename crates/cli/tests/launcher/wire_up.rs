//! Ranks that talk to the launcher.

use super::*;

#[test]
fn ranks_exchange_values_and_learn_the_job() {
    let mut args = words("-n 5", &[])
        .into_iter()
        .map(str::to_string)
        .collect::<Vec<_>>();
    args.extend(role("exchange"));
    args.extend([":", "-n", "2"].map(str::to_string));
    args.extend(role("exchange"));
    let said = run(args);
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    for rank in 0..7 {
        let app = u32::from(rank >= 5);
        let line = format!("exchanged rank={rank} size=7 app={app} local=7 host=");
        let line = said
            .out
            .lines()
            .find(|l| l.starts_with(&line))
            .expect(&line);
        let bytes = catena_trace::OFFSET + catena_trace::NODE_AREAS;
        assert!(line.contains(&format!("bytes={bytes} ")), "{line}");
        assert!(
            line.ends_with("app://0=[0,1,2,3,4] app://1=[5,6]"),
            "{line}"
        );
    }
}

#[test]
fn a_rank_may_be_a_child_of_a_wrapper_that_closes_everything() {
    let script = format!(
        "{} 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; true",
        role("exchange").join(" ")
    );
    let said = run(words("-n 3", &sh(&script)));
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    assert_eq!(said.out.matches("exchanged").count(), 3);
}

#[test]
fn one_rank_is_one_process() {
    let said = run(words("-n 1", &role("twice")));
    assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    let line = |word: &str| said.out.lines().find(|l| l.starts_with(word)).unwrap();
    assert!(
        line("second").contains("already taken part in this job as rank 0"),
        "{}",
        said.out
    );
    assert!(line("third").contains("alone 0 of 1"), "{}", said.out);
}

#[test]
fn without_a_launcher_a_program_is_alone() {
    let role = role("alone");
    let alone = |vars: &[(&str, &str)]| {
        said(
            clean(&role[0])
                .args(&role[1..])
                .envs(vars.iter().copied())
                .output()
                .unwrap(),
        )
    };
    assert!(alone(&[]).out.contains("alone 0 of 1"));
    let foreign = [("PMI_SIZE", "2"), ("PMI_RANK", "0")];
    let said = alone(&foreign);
    assert_eq!(said.status, 9);
    assert!(said.out.contains("PMI_SIZE=2 is set"), "{}", said.out);
    assert!(
        alone(&[&foreign[..], &[("CATENA_SINGLETON", "1")]].concat())
            .out
            .contains("alone 0")
    );
    let said = alone(&[("CATENA_BOOT", "rubbish")]);
    assert!(
        said.out.contains("CATENA_BOOT=rubbish was not written"),
        "{}",
        said.out
    );
}
