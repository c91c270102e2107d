//! Jobs on several hosts. They are all this machine: the agent `env -u` drops
//! the name of the host and runs the rest.

use super::*;

const AGENT: &str = "--launcher-agent=env -u";

/// Arguments for two or more hosts.
fn on(hosts: &str, more: &[String]) -> Vec<String> {
    let mut args = vec![AGENT.to_string(), format!("--host={hosts}")];
    args.extend_from_slice(more);
    args
}

#[test]
fn ranks_fill_the_slots_of_the_hosts() {
    let script = "echo $CATENA_RANK/$CATENA_SIZE is $CATENA_LOCAL_RANK";
    let said = run(on("a:2,b:1,c:2", &sh(script)));
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let mut lines: Vec<_> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["0/5 is 0", "1/5 is 1", "2/5 is 0", "3/5 is 0", "4/5 is 1"]
    );
}

#[test]
fn ranks_on_several_hosts_exchange_values() {
    let mut args = on("a:2,b:3", &role("exchange"));
    args.extend([":", "-n", "2"].map(str::to_string));
    args.extend(role("exchange"));
    args.insert(0, "-n=3".to_string());
    let said = run(args);
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    for (rank, local, host) in [(0, 2, "a"), (1, 2, "a"), (2, 3, "b"), (4, 3, "b")] {
        let begin = format!("exchanged rank={rank} size=5 ");
        let line = said.out.lines().find(|l| l.starts_with(&begin)).unwrap();
        assert!(
            line.contains(&format!(" local={local} host={host} ")),
            "{line}"
        );
        assert!(line.ends_with("app://0=[0,1,2] app://1=[3,4]"), "{line}");
    }
}

#[test]
fn each_program_runs_on_its_own_hosts() {
    let program = |hosts: &str| {
        let mut words = vec!["-n".to_string(), "2".to_string()];
        words.extend(["--host".to_string(), hosts.to_string()]);
        words.extend(role("exchange"));
        words
    };
    let mut args = vec![AGENT.to_string()];
    args.extend(program("a:2"));
    args.push(":".to_string());
    args.extend(program("b:1,c:1"));
    let said = run(args);
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    for (rank, host) in [(0, "a"), (1, "a"), (2, "b"), (3, "c")] {
        let begin = format!("exchanged rank={rank} size=4 ");
        let line = said.out.lines().find(|l| l.starts_with(&begin)).unwrap();
        assert!(line.contains(&format!(" host={host} ")), "{line}");
    }
}

#[test]
fn a_list_chooses_among_the_hosts_of_a_file() {
    let scratch = Scratch::new("hostfile");
    let file = scratch.path("hosts");
    std::fs::write(&file, "a slots=2\nb slots = 3 max_slots=3\nc\n").unwrap();
    let script = sh("echo $CATENA_RANK/$CATENA_SIZE");
    let line = format!("-f {file} --host b --display allocation");
    let said = run(words(&line, &[])
        .into_iter()
        .chain([AGENT])
        .map(String::from)
        .chain(script.clone()));
    assert_eq!(
        (said.status, said.out.lines().count()),
        (0, 3),
        "{}",
        said.err
    );
    assert_eq!(said.err, "host b: 3 slots\n");
    let line = format!("-f {file} --host b -n 4");
    let said = run(words(&line, &[])
        .into_iter()
        .chain([AGENT])
        .map(String::from)
        .chain(script));
    assert_eq!(said.status, 2);
    assert!(said.err.contains("takes 3 (max_slots)"), "{}", said.err);
}

#[test]
fn daemons_start_daemons() {
    let mut args = on("a,b,c,d,e,f,g", &role("exchange"));
    args.insert(0, "--set=LAUNCH_FANOUT=2".to_string());
    let said = run(args);
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    assert_eq!(said.out.matches("exchanged").count(), 7);
}

#[test]
fn values_are_asked_for_across_the_tree() {
    for (hosts, ranks) in [
        ("a:2,b:2", 4),
        ("localhost:2,b:2", 4),
        ("a:2,localhost:2", 4),
        ("a,b,c,d,e,f,g", 7),
    ] {
        let mut args = on(hosts, &role("ask"));
        args.insert(0, "--set=LAUNCH_FANOUT=2".to_string());
        let said = run(args);
        assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
        assert_eq!(said.out.matches("answered").count(), ranks, "{hosts}");
    }
}

#[test]
fn a_rank_on_another_host_reads_standard_input() {
    let mut text = "line\n".repeat(100_000);
    text += "last";
    let scratch = Scratch::new("input");
    std::fs::write(scratch.path("text"), &text).unwrap();
    for rank in ["0", "1"] {
        let file = std::fs::File::open(scratch.path("text")).unwrap();
        let args = on("a,b", &sh("cat; exit 0"));
        let mut command = mpirun();
        command.args([&format!("--stdin={rank}")]).args(args);
        let said = said(command.stdin(file).output().unwrap());
        assert_eq!((said.status, said.err.as_str()), (0, ""));
        assert!(said.out == text, "{} bytes", said.out.len());
    }
}

#[test]
fn much_output_of_several_hosts_comes_whole() {
    let script = "i=0; while [ $i -lt 20000 ]; do echo line $i of $CATENA_RANK; i=$((i+1)); done";
    let said = run(on("a:2,b:2", &sh(script)));
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    for rank in 0..4 {
        let end = format!(" of {rank}");
        let lines = said.out.lines().filter(|l| l.ends_with(&end));
        let wanted = (0..20000).map(|i| format!("line {i} of {rank}"));
        assert!(lines.eq(wanted), "rank {rank}");
    }
}

#[test]
fn a_failure_names_rank_and_host() {
    let script = "[ $CATENA_RANK = 2 ] && exit 3; exec sleep 1000";
    let said = run(on("a:2,b:2", &sh(script)));
    assert_eq!(said.status, 3);
    assert!(
        said.err.starts_with("catena run: rank 2 on host b (pid "),
        "{}",
        said.err
    );
    assert!(
        said.err.contains(", sh) exited with code 3; "),
        "{}",
        said.err
    );
    let said = run(on("a,b", &["no-such-program".to_string()]));
    assert_eq!(said.status, 127);
    assert!(said.err.contains("catena run: host "), "{}", said.err);
    assert!(said.err.contains("no-such-program"), "{}", said.err);
}

#[test]
fn a_killed_launcher_leaves_nothing_on_any_host() {
    let mut args = on("a:2,b:2,c:2", &role("wait"));
    args.insert(0, "--set=LAUNCH_FANOUT=2".to_string());
    let mut job = Running::start(args);
    let ranks = job.wait_for("waiting", 6);
    job.signal("KILL");
    for rank in &ranks {
        assert_gone(&rank[1]);
    }
}

#[test]
fn a_lost_host_ends_the_job_and_is_named() {
    let mut job = Running::start(on("a:2,b:2", &role("wait")));
    let ranks = job.wait_for("waiting", 4);
    let of_b = ranks.iter().find(|rank| rank[0] == "2").unwrap();
    // The daemon is the parent of its ranks' shells.
    let status = std::fs::read_to_string(format!("/proc/{}/status", of_b[1])).unwrap();
    let parent = |text: &str| {
        let line = text.lines().find(|l| l.starts_with("PPid:")).unwrap();
        line["PPid:".len()..].trim().to_string()
    };
    send("KILL", &parent(&status));
    let said = job.end();
    assert_eq!(said.status, 1);
    assert!(
        said.err.contains("host b is lost: the connection"),
        "{}",
        said.err
    );
    for rank in &ranks {
        assert_gone(&rank[1]);
    }
}

/// What is said if the agent is a script of these lines.
fn with_agent(name: &str, script: &str) -> Said {
    let scratch = Scratch::new(name);
    let agent = scratch.program("agent", &format!("#!/bin/sh\n{script}\n"));
    run([
        "--host",
        "here-not:1,b:1",
        "--launcher-agent",
        &agent,
        "--set=LAUNCH_TIMEOUT=30s",
        "true",
    ])
}

#[test]
fn each_step_that_fails_is_told() {
    for (name, script, words) in [
        (
            "resolve",
            "echo 'ssh: Could not resolve hostname b: Name or service not known' >&2; exit 255",
            "its name cannot be resolved",
        ),
        (
            "login",
            "echo 'u@b: Permission denied (publickey).' >&2; exit 255",
            "does not let you log in without a password",
        ),
        (
            "binary",
            "shift; exec sh -c \"/no$*\"",
            "is not there; install Catena",
        ),
        (
            "other",
            "echo some reason >&2; exit 4",
            "ended with status 4 before",
        ),
    ] {
        let said = with_agent(name, script);
        assert_eq!(said.status, 1, "{}", said.err);
        assert!(said.err.starts_with("catena run: host "), "{}", said.err);
        assert!(said.err.contains(words), "{}", said.err);
        // What the agent said is shown, too.
        assert!(said.err.contains("\n    "), "{}", said.err);
    }
    let said = run(["--host", "b", "--launcher-agent", "/no/agent", "true"]);
    assert!(
        said.err
            .contains("host b: the agent /no/agent cannot be started"),
        "{}",
        said.err
    );
}

#[test]
fn a_daemon_that_does_not_answer_is_given_up() {
    let scratch = Scratch::new("mute");
    let agent = scratch.program("agent", "#!/bin/sh\nexec sleep 1000\n");
    let said = run([
        "--host",
        "b",
        "--launcher-agent",
        &agent,
        "--set=LAUNCH_TIMEOUT=50ms",
        "true",
    ]);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("did not answer in time"), "{}", said.err);
}

#[test]
fn what_a_shell_prints_before_is_passed_over() {
    let said = with_agent("noise", "echo welcome to $1; shift; exec \"$@\"");
    assert_eq!(
        (said.status, said.err.as_str(), said.out.as_str()),
        (0, "", "")
    );
}

#[test]
fn a_daemon_that_talks_nonsense_is_refused() {
    let script = "printf '\\0catena daemon\\n'; printf '\\0\\0\\0\\0\\101'; \
                  printf '\\1\\0\\0\\0\\104x'; exec sleep 1000";
    let said = with_agent("nonsense", script);
    assert_eq!(said.status, 1);
    assert!(
        said.err.contains("sent what mpirun cannot read"),
        "{}",
        said.err
    );
}

#[test]
fn wrong_hosts_are_told() {
    for (args, words) in [
        (
            &["--host", "a:x", "true"][..],
            "'x' is not a number of slots",
        ),
        (
            &["--hostfile", "/no/such", "true"],
            "/no/such cannot be read",
        ),
        (
            &["--host", "a,b", "-ppn", "2", "-n", "5", "true"],
            "2 hosts with 2 ranks each cannot take 5 ranks",
        ),
    ] {
        let said = run(args);
        assert_eq!(said.status, 2, "{}", said.err);
        assert!(said.err.contains(words), "{}", said.err);
    }
}

/// What PALS's `mpiexec` does, as far as daemons need it: starts the command
/// once for each host, with what it gives its processes.
const PALS: &str = "#!/bin/sh\nshift 7; hosts=$1; shift\n\
                    for h in $(echo $hosts | tr , ' '); do\n\
                    PALS_NODENAME=$h SLINGSHOT_VNIS=vni-$h \"$@\" & done; wait\n";

#[test]
fn a_resource_manager_starts_all_daemons_with_one_command() {
    let scratch = Scratch::new("pals");
    let agent = scratch.program("mpiexec", PALS);
    let options = ["--launcher", "pals", "--launcher-agent", &agent];
    let start = |hosts: &str, more: &[String]| {
        let mut command = mpirun();
        command.args(options).args(["--host", hosts]).args(more);
        said(command.output().unwrap())
    };
    let script = "echo $CATENA_RANK has $SLINGSHOT_VNIS and not ${CATENA_DAEMON-that}";
    let said = start("a:1,b:2", &sh(script));
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let mut lines: Vec<_> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "0 has vni-a and not that",
            "1 has vni-b and not that",
            "2 has vni-b and not that"
        ]
    );
    let said = start("a:2,b:2,c:1", &role("exchange"));
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    assert_eq!(said.out.matches("exchanged").count(), 5);
}

#[test]
fn an_allocation_of_slurm_gives_the_hosts() {
    let scratch = Scratch::new("slurm");
    let script = "#!/bin/sh\nfor w in \"$@\"; do case $w in\n\
                  --nodelist=*) hosts=${w#--nodelist=} ;; esac; done\n\
                  while case $1 in --catena-daemon) false ;; -*) true ;; *) false ;; esac; \
                  do shift; done\n\
                  for h in $(echo $hosts | tr , ' '); do SLURMD_NODENAME=$h \"$@\" & done; wait\n";
    let bin = scratch.program("srun", script);
    let folder = Path::new(&bin).parent().unwrap().to_str().unwrap();
    let mut command = mpirun();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    command
        .env("PATH", path)
        .args(sh("echo $CATENA_RANK on $SLURMD_NODENAME"));
    command
        .env("SLURM_JOB_ID", "7")
        .env("SLURM_JOB_NODELIST", "x[08-09]");
    command.env("SLURM_TASKS_PER_NODE", "1,2");
    let said = said(command.output().unwrap());
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    let mut lines: Vec<_> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0 on x08", "1 on x09", "2 on x09"]);
}

/// In jobs of LSF and of Grid Engine, the hosts are theirs, and their commands start daemons.
#[test]
fn allocations_of_lsf_and_grid_engine_are_used() {
    let scratch = Scratch::new("lsf");
    scratch.program("blaunch", "#!/bin/sh\nshift\nexec \"$@\"\n");
    scratch.program(
        "qrsh",
        "#!/bin/sh\n[ $1 = -inherit ] || exit 9\nshift 2\nexec \"$@\"\n",
    );
    let path = format!("{}:{}", scratch.0.display(), std::env::var("PATH").unwrap());
    let file = scratch.path("pe_hostfile");
    std::fs::write(&file, "a 2 all.q@a <NULL>\nb 1 all.q@b <NULL>\n").unwrap();
    for vars in [
        &[("LSB_JOBID", "7"), ("LSB_MCPU_HOSTS", "a 2 b 1")][..],
        &[("PE_HOSTFILE", file.as_str())],
    ] {
        let mut command = mpirun();
        command.env("PATH", &path).envs(vars.iter().copied());
        let said = said(command.args(role("exchange")).output().unwrap());
        assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
        assert_eq!(said.out.matches("exchanged").count(), 3, "{vars:?}");
        assert!(said.out.contains("host=b"), "{}", said.out);
    }
}

/// In an instance of Flux, whose command tells the hosts and starts the daemons. The name of a
/// daemon's host is told as PALS does.
#[test]
fn an_instance_of_flux_is_used() {
    let scratch = Scratch::new("flux");
    let script = "#!/bin/sh\n[ $1 = getattr ] && { echo 'n[1-2]'; exit; }\n\
                  for w in \"$@\"; do case $w in --requires=hosts:*) hosts=${w#*hosts:};; esac; \
                  done\n\
                  while [ $1 != -o ]; do shift; done; shift 4\n\
                  for h in $(echo $hosts | tr , ' '); do PALS_NODENAME=$h \"$@\" & done; wait\n";
    scratch.program("flux", script);
    let path = format!("{}:{}", scratch.0.display(), std::env::var("PATH").unwrap());
    let mut command = mpirun();
    command
        .env("PATH", &path)
        .env("FLUX_URI", "local:///nowhere");
    command.args(words("-ppn 1", &role("exchange")));
    let said = said(command.output().unwrap());
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    assert_eq!(said.out.matches("exchanged").count(), 2);
    assert!(
        said.out.contains("host=n1") && said.out.contains("host=n2"),
        "{}",
        said.out
    );
}

#[test]
fn a_resource_manager_that_fails_is_told() {
    let scratch = Scratch::new("fails");
    let agent = scratch.program("srun", "#!/bin/sh\necho no nodes left; exit 3\n");
    let options = ["--launcher", "slurm", "--launcher-agent", &agent];
    let said = run([&options[..], &["--host", "a,b", "true"]].concat());
    assert_eq!(said.status, 1);
    assert!(
        said.err.contains("ended with status 3\n    no nodes left"),
        "{}",
        said.err
    );
    let agent = scratch.program("mute", "#!/bin/sh\nexec sleep 1000\n");
    let options = ["--launcher", "slurm", "--launcher-agent", &agent];
    let more = ["--set=LAUNCH_TIMEOUT=50ms", "--host", "a,b", "true"];
    let said = run([&options[..], &more].concat());
    assert_eq!(said.status, 1);
    assert!(
        said.err.contains("did not call back within 0.05 s"),
        "{}",
        said.err
    );
}

/// Each host with a network of its own that leads nowhere: the launcher needs
/// none, as its daemons talk through their agent.
#[test]
fn hosts_without_a_network_in_common_are_served() {
    let own = ["-n", "-u", "-i"];
    let possible = Command::new("unshare").args(own).arg("true").output();
    if !possible.is_ok_and(|output| output.status.success()) {
        return catena_testing::skip("namespaces", &"`unshare -n -u -i` is not allowed here");
    }
    let agent = format!("--launcher-agent=unshare {} env -u", own.join(" "));
    let hosts = ["--set=LAUNCH_FANOUT=1", "--host=a:2,b:2,c:1"].map(str::to_string);
    let said = run([&[agent], &hosts[..], &role("exchange")].concat());
    assert_eq!((said.status, said.err.as_str()), (0, ""), "{}", said.out);
    assert_eq!(said.out.matches("exchanged").count(), 5);
}
