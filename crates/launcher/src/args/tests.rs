//! What the command line means.

use super::table::{DIFFERENT, Group, PEERS, Row};
use super::*;

fn run(line: &str) -> Request {
    match parse(line.split_whitespace().map(OsString::from)) {
        Ok(Parsed::Run(request)) => *request,
        other => panic!("{line}: {other:?}"),
    }
}

fn fails(line: &str) -> String {
    match parse(line.split_whitespace().map(OsString::from)) {
        Err(UsageError(text)) => text,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn all_spellings_of_the_number_of_ranks() {
    for line in [
        "-n 3 a", "-np 3 a", "--np 3 a", "--np=3 a", "-c 3 a", "--n 3 a", "-np=3 a",
    ] {
        let request = run(line);
        assert_eq!(request.apps.len(), 1);
        assert_eq!(
            (request.apps[0].count, &request.apps[0].program),
            (Some(3), &"a".into())
        );
    }
    assert_eq!(run("a").apps[0].count, None);
}

#[test]
fn several_programs_have_their_own_options() {
    let request = run("-genv G 1 -l --stdin 3 -n 2 -x A=1 -wdir /x a -n 9 b : --env B 2 c : d=e");
    let [a, c, d] = &request.apps[..] else {
        panic!("{request:?}")
    };
    assert_eq!(
        (a.count, &a.args[..]),
        (Some(2), &["-n", "9", "b"].map(OsString::from)[..])
    );
    assert_eq!(a.env, [("A".into(), "1".into())]);
    assert_eq!(a.wdir, Some("/x".into()));
    assert_eq!(
        (c.count, &c.env[..]),
        (None, &[("B".into(), "2".into())][..])
    );
    assert_eq!(d.program, "d=e");
    assert_eq!(request.env, [("G".into(), "1".into())]);
    assert!(request.output.tag);
    assert_eq!(request.stdin, Readers::Some(vec![3]));
}

#[test]
fn everything_after_the_program_belongs_to_it() {
    let request = run("--timeout 1.5 --bind-to core -v --set A=b=c --stdin none -- -odd --help");
    assert_eq!(request.apps[0].program, "-odd");
    assert_eq!(request.apps[0].args, ["--help"]);
    assert_eq!(request.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(request.settings, [("A".to_string(), "b=c".to_string())]);
    assert_eq!(request.placement.bind_to, "core");
    assert!(request.verbose && request.stdin == Readers::Some(Vec::new()));
    let handler = run("-initial-errhandler mpi_errors_return a").settings;
    let expected = ("INITIAL_ERRHANDLER", "mpi_errors_return");
    assert_eq!(handler, [expected].map(|(n, v)| (n.into(), v.into())));
    for (text, on) in [
        ("ulfm", "true"),
        ("mpi", "true"),
        ("Yes", "true"),
        ("none", "false"),
        ("no", "false"),
        ("0", "false"),
    ] {
        let settings = run(&format!("--with-ft {text} a")).settings;
        let status = ("FAULT_STATUS".into(), "survivors".into());
        let tolerance = ("FAULT_TOLERANCE".into(), on.into());
        match on {
            "true" => assert_eq!(settings, [status, tolerance]),
            _ => assert_eq!(settings, [tolerance]),
        }
    }
    let takeover = run("--no-takeover a").settings;
    let expected = ("LAUNCH_TAKEOVER", "false");
    assert_eq!(takeover, [expected].map(|(n, v)| (n.into(), v.into())));
    let kinds = run("-memory-alloc-kinds mpi,system a").settings;
    let expected = ("MEMORY_ALLOC_KINDS", "mpi,system");
    assert_eq!(kinds, [expected].map(|(n, v)| (n.into(), v.into())));
    let placement = run("--map-by ppr:1:numa --display map,bindings --cpu-set=0-3 a").placement;
    assert_eq!(
        (placement.map_by.as_str(), placement.cpu_set.as_str()),
        ("ppr:1:numa", "0-3")
    );
    assert_eq!(placement.show, Show::Bindings);
    assert!(run("-n 3 --topology m.xml").topology.is_some());
}

#[test]
fn help_and_version_need_no_program() {
    assert_eq!(parse(["--help".into()]), Ok(Parsed::Help(Topic::General)));
    assert_eq!(
        parse(["-n".into(), "2".into(), "-h".into()]),
        Ok(Parsed::Help(Topic::General))
    );
    assert_eq!(parse(["-V".into()]), Ok(Parsed::Version));
}

#[test]
fn mistakes_are_told_with_a_remedy() {
    for (line, words) in [
        ("", "no program to run"),
        ("-n 2", "no program to run"),
        ("a :", "no program after :"),
        (": a", "no program before :"),
        ("-np 0 a", "at least one rank"),
        ("-np -3 a", "whole number, 1 or more"),
        ("-np two a", "whole number, 1 or more"),
        ("-np 99999999 a", "at most"),
        ("-np", "-np needs N behind it"),
        ("--tag-outptu a", "did you mean --tag-output?"),
        ("--tiemout 3 a", "did you mean --timeout?"),
        ("---np 3 a", "no option ---np"),
        ("-n2 a", "no option -n2; did you mean -n 2?"),
        ("-K1 a", "no option -K1; did you mean -K=1?"),
        ("--n2 a", "see mpirun --help"),
        (
            "-t a",
            "of Slurm (srun) write --timeout SECONDS; in place of -t (trace) of Intel MPI",
        ),
        (
            "--kill-on-bad-exit=maybe a",
            "--kill-on-bad-exit=maybe: it must be 0 or 1",
        ),
        ("--xyzzy a", "see mpirun --help"),
        ("--timeout 0 a", "seconds above 0"),
        ("--timeout soon a", "seconds above 0"),
        ("--timeout nan a", "seconds above 0"),
        ("--stdin x a", "all or none"),
        ("--stdin 3-1 a", "all or none"),
        ("-n 2 a : --timeout 3 b", "before the first one"),
        ("-n 2 a : --map-by core b", "before the first one"),
        ("--soft 3:1 a", "FIRST:LAST:STEP"),
        ("--output-filename o:x a", "nocopy and nojobid"),
        ("--output color a", "timestamp"),
        ("-configfile /no/such a", "nothing can follow"),
        ("-configfile /no/such", "cannot be read"),
        ("--bind-to sox a", "--bind-to sox: it must be none"),
        ("--map-by ppr:1 a", "--map-by ppr:1: write ppr:N:OBJECT"),
        ("--rank-by core a", "slot, node, fill or span"),
        ("--display all a", "map, bindings or allocation"),
        ("-x =1 a", "name of the variable is empty"),
        ("--tag-output=yes a", "takes no value"),
        ("--set A a", "write NAME=VALUE"),
        ("--pset w a", "write NAME=RANKS"),
        ("--pset w=0 -n 2 --pset=w=1 a", "a set w already"),
        ("--host", "--host needs LIST behind it"),
        ("-ppn 0 a", "at least one rank"),
        ("--launcher rhs a", "ssh, slurm, pals, lsf, sge or flux"),
        (
            "-n 4 -c 2 a",
            "given before, as 4; in place of -c N of Slurm (srun) write --cpus-per-task N",
        ),
        ("-n 4 --np 2 a", "given before, as 4"),
        (
            "--help nonsense",
            "about open-mpi, mpich, intel, slurm, mpi and each option",
        ),
        ("--nodes 2 a", "write -ppn K"),
        ("--time 10 a", "write --timeout SECONDS"),
        ("-m cyclic a", "write --map-by slot, --map-by node"),
        (
            "--partition x a",
            "write nothing, as salloc and sbatch take these",
        ),
        ("-env A", "-env needs NAME VALUE behind it"),
    ] {
        let text = fails(line);
        assert!(text.contains(words), "{line}: {text}");
    }
}

/// A line with an option, as its row's sample has it.
fn line(row: &Row, name: &str) -> String {
    format!("--{name} {} a", row.sample)
}

/// Without the names of options, which messages have.
fn plain(mut request: Request) -> Request {
    for named in &mut request.named {
        named
            .lists
            .iter_mut()
            .for_each(|(option, _)| option.clear());
        named
            .files
            .iter_mut()
            .for_each(|(option, _)| option.clear());
    }
    request
}

/// The test of each row of the table: what it says of its options is so.
#[test]
fn every_row() {
    let nothing = run("a");
    for row in TABLE {
        if matches!(row.does, Does::Own(Opt::File | Opt::Configfile)) {
            // See `files_add_words`.
            continue;
        }
        if row.does == Does::Own(Opt::Help) {
            // See `what_differs_is_told_in_words_that_there_are`.
            continue;
        }
        for name in row.names {
            let line = line(row, name);
            let parsed = parse(line.split_whitespace().map(OsString::from)).expect(&line);
            let Parsed::Run(request) = parsed else {
                assert!(
                    matches!(row.does, Does::Own(Opt::Help | Opt::Version)),
                    "{line}"
                );
                continue;
            };
            let warnings = request.warnings.join("\n");
            match row.does {
                Does::Own(Opt::Envall) => {
                    let none = format!("--genvnone {line}");
                    assert_ne!(run("--genvnone a"), nothing);
                    assert_eq!(run(&none), nothing, "{line}");
                }
                Does::Own(_) => {
                    assert_ne!(*request, nothing, "{line}");
                    let first = run(&self::line(row, row.names[0]));
                    if warnings.is_empty() {
                        assert_eq!(plain(*request), plain(first), "{line}");
                    }
                }
                Does::Means(words) => {
                    let same = run(&(words.replace("{}", row.sample) + " a"));
                    assert_eq!(*request, same, "{line}");
                    assert_ne!(*request, nothing, "{line}");
                }
                Does::Ignored => {
                    assert!(
                        warnings.contains(row.text) && warnings.contains(name),
                        "{line}"
                    );
                    let warnings = request.warnings.clone();
                    assert_eq!(
                        *request,
                        Request {
                            warnings,
                            ..nothing.clone()
                        },
                        "{line}"
                    );
                }
                Does::Moot => assert_eq!(*request, nothing, "{line}"),
            }
        }
    }
}

/// The words that follow an option are as many as where it comes from, so that a script's next word
/// is not swallowed.
#[test]
fn every_name_takes_what_its_peer_has_it_take() {
    let mut known = std::collections::BTreeMap::new();
    let lines = include_str!("arity.tbl").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (of, rest) = line.split_once(' ').unwrap();
        let (arity, names) = rest.split_once(' ').unwrap();
        for name in names.split(' ') {
            let row = TABLE.iter().find(|row| row.names.contains(&name));
            let row = row.unwrap_or_else(|| panic!("{name} has no row"));
            let ours = match row.takes {
                Takes::Nothing => "0",
                Takes::Word(_) => "1",
                Takes::Maybe(_) => "?",
                Takes::Pair(_) => "2",
            };
            // Open MPI's -s is told to be another option.
            let differs = (of, name) == ("open-mpi", "s");
            assert!(
                ours == arity || differs,
                "{name} takes {arity} in {of}, {ours} here"
            );
            known.insert(name, ());
        }
    }
    let names = TABLE.iter().flat_map(|row| row.names);
    let unknown: Vec<_> = names.filter(|name| !known.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "add to arity.tbl: {unknown:?}");
}

#[test]
fn what_follows_an_option_of_others_stays_where_it_is() {
    for (line, program) in [
        ("--stream-buffering 1 a", "a"),
        ("--preload-binary a b", "a"),
        ("-pmi-port a b", "a"),
        ("-hybrid-hosts a b", "a"),
        ("--kill-on-bad-exit=1 a", "a"),
        ("--kill-on-bad-exit a 1", "a"),
        ("-tune t a", "a"),
        ("--no-kill=off a", "a"),
    ] {
        assert_eq!(run(line).apps[0].program, program, "{line}");
    }
    assert_eq!(run("--no-kill=off a"), run("a"));
    assert!(run("--kill-on-bad-exit=0 a").warnings[0].contains("--with-ft ulfm"));
    assert_eq!(run("-n 2 -c 2 a"), run("-n 2 a"));
}

#[test]
fn what_open_mpi_and_hydra_say_otherwise_has_its_meaning() {
    let ulfm = run("--with-ft ulfm a");
    for word in ["recoverable", "CONTINUOUS=1", "error-nonzero-status=false"] {
        assert_eq!(run(&format!("--runtime-options {word} a")), ulfm, "{word}");
    }
    assert!(run("--runtime-options donotlaunch,timeout=9 a").dry);
    assert_eq!(run("--runtime-options recoverable=false a"), run("a"));
    assert!(run("--runtime-options notifyerrors a").warnings[0].contains("notifyerrors"));
    assert_eq!(
        run("--map-by pe-list=0,2:ordered a"),
        run("--cpu-set 0,2 a")
    );
    assert!(run("-launcher fork a").warnings[0].contains("on this host need none"));
    let keeps = run("-disable-auto-cleanup a").settings;
    assert!(keeps.contains(&("FAULT_STATUS".to_string(), "first".to_string())));
    assert_eq!(keeps.last().map(|last| last.1.as_str()), Some("first"));
}

#[test]
fn each_name_has_one_row_and_all_are_told() {
    let mut names: Vec<&str> = TABLE.iter().flat_map(|row| row.names).copied().collect();
    let (all, page) = (names.len(), page());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    let general = Topic::General.text();
    for row in TABLE {
        for name in row.names {
            assert!(page.contains(&format!("-{name}")), "{name}");
            let own = matches!(row.does, Does::Own(_)) && row.group != Group::Others;
            assert!(!own || general.contains(&format!("-{name}")), "{name}");
        }
    }
    assert!(
        general.lines().all(|line| line.chars().count() <= 100),
        "{general}"
    );
}

#[test]
fn what_differs_is_told_in_words_that_there_are() {
    for (peer, theirs, ours) in DIFFERENT {
        let peer = PEERS.into_iter().find(|of| of.word == *peer).expect(peer);
        assert!(Topic::Of(peer).text().contains(theirs), "{theirs}");
        for word in ours
            .split([' ', ',', ';', '|', ':'])
            .filter(|word| word.starts_with('-'))
        {
            let name = word.trim_start_matches('-');
            assert!(TABLE.iter().any(|row| row.names.contains(&name)), "{ours}");
        }
    }
    let help = |word: &str| parse(["--help".into(), word.into()]);
    for name in ["open-mpi", "ompi"] {
        assert_eq!(help(name), Ok(Parsed::Help(Topic::Of(PEERS[0]))));
    }
    assert!(Topic::Of(PEERS[0]).text().contains("--npersocket N"));
    let Ok(Parsed::Help(topic)) = help("--kill-on-bad-exit") else {
        panic!("no topic")
    };
    assert!(topic.text().contains("--kill-on-bad-exit, -K[=0|1]"));
}

#[test]
fn files_add_words() {
    let folder = std::env::temp_dir().join(format!("catena-words-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let app = write("app", "# two\n-n 2 -x A=1 a 'b c'\n\n-n 3 d\n");
    for option in ["-configfile", "--app"] {
        let request = run(&format!("-l {option} {app}"));
        let [one, two] = &request.apps[..] else {
            panic!("{request:?}")
        };
        assert_eq!((one.count, &one.args[..]), (Some(2), &["b c".into()][..]));
        assert_eq!((two.count, two.program.to_str()), (Some(3), Some("d")));
        assert!(request.output.tag);
    }
    let file = write("file", "-n 2\n-wdir /tmp\n");
    assert_eq!(run(&format!("-file {file} a")), run("-n 2 -wdir /tmp a"));
    let endless = folder.join("endless").display().to_string();
    write("endless", &format!("-file {endless} -v"));
    assert!(fails(&format!("-file {endless} a")).contains("does one name itself"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn hosts_belong_to_their_program() {
    let request = run("-host a:2 -n 2 p : -host b -ppn 3 q : r");
    let lists: Vec<usize> = request
        .named
        .iter()
        .map(|named| named.lists.len())
        .collect();
    assert_eq!(lists, [1, 1, 0]);
    assert_eq!(request.named[1].ppn, Some(3));
    assert!(request.named[2].is_empty());
}

#[test]
fn variables_are_inherited_as_said() {
    let request = run("-genvlist A,B p : -envnone q : -envall r");
    let has = |at: usize, name: &str| request.apps[at].inherit.has(OsStr::new(name));
    assert!(has(0, "A") && !has(0, "C") && !has(1, "A") && has(2, "C"));
    // mpirun follows settings itself.
    assert!(has(1, "CATENA_LINK"));
    let request = run("--export=ALL,A=1 p : -n 1 --export=B,A=2 q");
    assert_eq!(request.apps[0].inherit, Inherit::All);
    assert_eq!(request.apps[1].env, [("A".into(), "2".into())]);
    assert_eq!(request.apps[1].inherit, Inherit::Only(vec!["B".into()]));
}

#[test]
fn a_variable_that_is_not_set_is_passed_over() {
    let request = run("-x CATENA_NO_SUCH_VARIABLE a");
    assert!(request.warnings[0].contains("no variable of this name"));
    assert_eq!(request.apps[0].env, []);
}

#[test]
fn what_is_added_to_the_mapping_stays() {
    let map = |line: &str| run(line).placement.map_by;
    assert_eq!(map("--nolocal --map-by core a"), "core:nolocal");
    assert_eq!(
        map("--map-by core --nolocal --cpus-per-proc 2 a"),
        "core:nolocal:pe=2"
    );
    assert_eq!(map("--map-by core:PE=2 --map-by numa a"), "numa");
}

#[test]
fn output_goes_where_it_is_to_go() {
    let output = |line: &str| run(line).output;
    let folder = output("--output-filename o a");
    assert_eq!(folder.files[1].as_deref(), Some("o/%j/rank.%R/stderr"));
    assert!(folder.is_shown(0));
    assert!(!output("--output-filename o:nocopy,nojobid a").is_shown(1));
    let pattern = output("-outfile-pattern o.%r a");
    assert!(!pattern.is_shown(0) && pattern.is_shown(1));
    let words = output("--output tag,timestamp,file=50%,copy a");
    assert_eq!(words.files[0].as_deref(), Some("50%%.%r.out"));
    assert!(words.tag && words.stamp && words.is_shown(0));
}
