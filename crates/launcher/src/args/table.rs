//! The options of mpirun, its own and those that scripts for other MPI libraries have: one table,
//! of which the parser, the help and `docs/options.md` are made.
//!
//! Each row is tested by its sample: see `every_row` in `args/tests.rs`.

use super::opt::Opt;

/// An MPI library or launcher that has options of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What `--help` knows it by.
    pub word: &'static str,
    /// Other words that mean it.
    pub others: &'static [&'static str],
    /// What users call it.
    pub title: &'static str,
    bit: u8,
}

/// Those that `mpirun --help NAME` tells about.
pub const PEERS: [Peer; 5] = [
    Peer {
        word: "open-mpi",
        others: &["openmpi", "ompi", "prrte", "prterun"],
        title: "Open MPI",
        bit: O,
    },
    Peer {
        word: "mpich",
        others: &["hydra"],
        title: "MPICH",
        bit: M,
    },
    Peer {
        word: "intel",
        others: &["impi", "intel-mpi", "intelmpi"],
        title: "Intel MPI",
        bit: I,
    },
    Peer {
        word: "slurm",
        others: &["srun"],
        title: "Slurm (srun)",
        bit: S,
    },
    Peer {
        word: "mpi",
        others: &["mpi-5", "standard"],
        title: "MPI-5, section 11.5",
        bit: F,
    },
];

const O: u8 = 1;
const M: u8 = 2;
const I: u8 = 4;
const S: u8 = 8;
const F: u8 = 16;

/// A part of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    What,
    Environment,
    Output,
    Hosts,
    Placement,
    Control,
    /// Not in the general help.
    Others,
}

impl Group {
    /// The groups of options that the general help shows, each with its title.
    pub const SHOWN: [(Group, &'static str); 6] = [
        (Group::What, "what to run"),
        (Group::Environment, "environment"),
        (Group::Output, "input and output"),
        (Group::Hosts, "hosts"),
        (Group::Placement, "placement"),
        (Group::Control, "control"),
    ];
}

/// The words that follow an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// One, which is called so in the help.
    Word(&'static str),
    /// One or none: it follows only after `=`.
    Maybe(&'static str),
    /// Two.
    Pair(&'static str),
}

/// What an option does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Does {
    /// It is one of mpirun's own.
    Own(Opt),
    /// It stands for these words, in which `{}` is its value.
    Means(&'static str),
    /// Nothing: mpirun warns, and goes on. What to write instead is in the row's text.
    Ignored,
    /// Nothing, as mpirun does so anyway: the row's text says what.
    Moot,
}

/// Options that do the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Without dashes; the first is the one to show.
    pub names: &'static [&'static str],
    pub takes: Takes,
    /// An example of its value.
    pub sample: &'static str,
    /// Which of [`PEERS`] have one of these names.
    peers: u8,
    pub group: Group,
    pub does: Does,
    pub text: &'static str,
}

impl Row {
    /// Whether `peer` has an option of one of these names.
    pub fn is_of(&self, peer: Peer) -> bool {
        self.peers & peer.bit != 0
    }

    const fn takes(self, takes: &'static str, sample: &'static str) -> Row {
        Row {
            takes: Takes::Word(takes),
            sample,
            ..self
        }
    }

    const fn maybe(self, takes: &'static str) -> Row {
        Row {
            takes: Takes::Maybe(takes),
            ..self
        }
    }

    const fn pair(self, takes: &'static str, sample: &'static str) -> Row {
        Row {
            takes: Takes::Pair(takes),
            sample,
            ..self
        }
    }
}

const fn row(names: &'static [&'static str], peers: u8, does: Does, text: &'static str) -> Row {
    Row {
        names,
        takes: Takes::Nothing,
        sample: "",
        peers,
        group: Group::Others,
        does,
        text,
    }
}

const fn own(
    group: Group,
    names: &'static [&'static str],
    peers: u8,
    opt: Opt,
    text: &'static str,
) -> Row {
    Row {
        group,
        ..row(names, peers, Does::Own(opt), text)
    }
}

const fn means(
    names: &'static [&'static str],
    peers: u8,
    words: &'static str,
    text: &'static str,
) -> Row {
    row(names, peers, Does::Means(words), text)
}

const fn ignored(names: &'static [&'static str], peers: u8, text: &'static str) -> Row {
    row(names, peers, Does::Ignored, text)
}

const fn moot(names: &'static [&'static str], peers: u8, text: &'static str) -> Row {
    row(names, peers, Does::Moot, text)
}

/// The remedy for settings of Open MPI.
const MCA: &str = "a setting of Open MPI; settings of Catena are given by --set NAME=VALUE, and `catena info` lists them";

/// How to run ranks in a debugger.
const DEBUG: &str = "to debug ranks in windows, write: xterm -e gdb --args PROGRAM";

/// All of them, in the order of the help.
pub const TABLE: &[Row] = &[
    // What to run.
    own(Group::What, &["n", "np", "c", "ntasks"], O | M | I | S | F, Opt::Count,
        "number of ranks (default: one per available core, or per slot of the hosts; 1 if there are several programs)")
        .takes("N", "3"),
    own(Group::What, &["soft"], F | M, Opt::Soft,
        "other numbers of ranks that will do, such as 2:8:2,12; without -n, the largest of them is taken")
        .takes("LIST", "2:6:2"),
    own(Group::What, &["wdir", "wd", "chdir"], O | M | I | S | F, Opt::Wdir, "working directory of the ranks")
        .takes("DIR", "/tmp"),
    own(Group::What, &["path"], O | M | I | F, Opt::Path, "folders, with colons between them, in which the program is looked for first")
        .takes("DIRS", "/opt/bin:/bin"),
    own(Group::What, &["configfile", "app"], O | M | I | F, Opt::Configfile,
        "read the programs from FILE: options, program and arguments of one on each line, as between colons")
        .takes("FILE", ""),
    own(Group::What, &["file"], F, Opt::File, "read more options of this program from FILE").takes("FILE", ""),
    own(Group::What, &["pset"], 0, Opt::Pset,
        "define a process set for MPI sessions, such as workers=0-3,8; may be given several times")
        .takes("NAME=RANKS", "w=0-1"),
    ignored(&["arch"], F, "all hosts are taken to be of one architecture; name those to run on with --host").takes("NAME", "x86_64"),
    ignored(&["preload-files"], O, "files must be there on every host").takes("FILES", "a"),
    ignored(&["preload-binary"], O, "the program must be there on every host"),
    ignored(&["gtool", "gtoolfile"], I, "put the tool before the program").takes("TEXT", "valgrind:0"),
    // Environment.
    own(Group::Environment, &["x"], O, Opt::Export, "give the ranks of this program a variable").takes("NAME[=VALUE]", "A=1"),
    means(&["set-env"], O, "-x {}", "give the ranks of this program a variable").takes("NAME=VALUE", "A=1"),
    ignored(&["unset-env"], O, "-envlist or -genvlist name the variables that ranks have").takes("NAME", "A"),
    ignored(&["append-env", "prepend-env"], O, "-x NAME=VALUE, where VALUE may name the variable of the shell").pair("NAME VALUE", "A 1"),
    own(Group::Environment, &["env"], M | I, Opt::Env, "give the ranks of this program a variable").pair("NAME VALUE", "A 1"),
    own(Group::Environment, &["genv"], M | I, Opt::Genv, "give the ranks of all programs a variable").pair("NAME VALUE", "A 1"),
    own(Group::Environment, &["envlist"], M | I, Opt::Envlist,
        "pass only these variables of mpirun's on to this program, with commas between them").takes("NAMES", "A,B"),
    own(Group::Environment, &["genvlist"], M | I, Opt::Genvlist, "pass only these variables on to all programs").takes("NAMES", "A,B"),
    own(Group::Environment, &["envnone"], M | I, Opt::Envnone, "pass no variables of mpirun's on to this program"),
    own(Group::Environment, &["genvnone"], M | I, Opt::Genvnone, "pass no variables of mpirun's on to any program"),
    own(Group::Environment, &["envall", "envuser"], M | I, Opt::Envall, "pass all variables of mpirun's on to this program, after -genvlist or -genvnone"),
    own(Group::Environment, &["export"], S, Opt::SlurmExport,
        "ALL, NONE, or variables to pass on, with commas between them: NAME or NAME=VALUE; with ALL among them, besides all others")
        .takes("LIST", "NONE"),
    own(Group::Environment, &["set"], 0, Opt::Set, "set a configuration variable (see `catena info`)").takes("NAME=VALUE", "A=1"),
    moot(&["genvall", "genvuser"], M | I, "ranks get the variables of mpirun's environment"),
    ignored(&["mca", "gmca", "omca", "pmca", "prtemca", "pmixmca", "gpmixmca", "gprtemca"], O, MCA).pair("NAME VALUE", "btl self"),
    ignored(&["tune", "am"], O | I, MCA).takes("FILE", "a.conf"),
    ignored(&["umask"], I, "call umask before mpirun").takes("MASK", "022"),
    // Input and output.
    own(Group::Output, &["tag-output", "l", "prepend-rank", "label"], O | M | I | S, Opt::Tag, "begin each line with the rank that wrote it"),
    own(Group::Output, &["timestamp-output", "prepend-timestamp"], O | I, Opt::Stamp, "begin each line with the time"),
    own(Group::Output, &["merge-stderr-to-stdout"], O, Opt::Merge, "write what ranks write to stderr to stdout"),
    own(Group::Output, &["output-filename"], O, Opt::OutputFilename,
        "write what ranks write also into DIR/1/rank.N/stdout and stderr, on the host of mpirun; with :nocopy behind it, into these files only").takes("DIR[:nocopy]", "o:nocopy"),
    own(Group::Output, &["outfile-pattern"], M | I, Opt::Outfile,
        "write what ranks write to stdout into files only: %r is the rank, %h its host").takes("NAME", "out.%r"),
    own(Group::Output, &["errfile-pattern"], M | I, Opt::Errfile, "write what ranks write to stderr into files only").takes("NAME", "err.%r"),
    own(Group::Output, &["output"], O, Opt::OutputWords,
        "tag, timestamp, merge, dir=DIR or file=NAME (NAME.RANK.out and .err), with commas between them").takes("WORDS", "tag,merge"),
    own(Group::Output, &["stdin", "s"], O | I, Opt::Stdin,
        "ranks that read standard input: numbers such as 0,2-4 (default 0), all, or none; the others read nothing")
        .takes("RANKS", "all"),
    moot(&["ordered-output"], I, "lines of ranks are never mixed"),
    moot(&["stream-buffering"], O, "what a rank has begun is shown soon").takes("MODE", "1"),
    moot(&["unbuffered", "u"], S, "what ranks write is passed on as they write it"),
    ignored(&["prepend-pattern"], M | I, "lines can begin with the rank: --tag-output").takes("TEXT", "%r"),
    ignored(&["xml"], O, "output is text: --tag-output tells the ranks"),
    // Hosts.
    own(Group::Hosts, &["host", "H", "hosts", "nodelist", "w"], O | M | I | S | F, Opt::Host,
        "run on these: a:2,b:4 are two hosts with room (slots) for 2 and for 4 ranks; without a number, for 1, or for what \
         the hostfile says; slots of a host that is named twice add up")
        .takes("LIST", "a:2,b"),
    own(Group::Hosts, &["hostfile", "machinefile", "f", "machine", "default-hostfile", "nodefile"], O | M | I | S, Opt::Hostfile,
        "run on the hosts that FILE names, in lines HOST, HOST:N or HOST slots=N max_slots=M; with --host, those of them that --host names")
        .takes("FILE", "h"),
    own(Group::Hosts, &["ppn", "N", "perhost", "npernode", "ntasks-per-node", "grr"], O | M | I | S, Opt::Ppn, "N ranks on each host")
        .takes("N", "2"),
    means(&["pernode"], O, "-ppn 1", "a rank on each host"),
    own(Group::Hosts, &["launcher"], M | I, Opt::Launcher,
        "what starts programs on other hosts: ssh, slurm, pals, lsf, sge or flux (default: that of the allocation, whose hosts \
         are taken if none are named: of Slurm, PBS, PALS, LSF, SGE or Flux; else ssh, which must not ask for a password)")
        .takes("WORD", "ssh"),
    own(Group::Hosts, &["bootstrap"], I, Opt::Bootstrap, "what starts programs there; other words of Intel's are passed over with a warning")
        .takes("WORD", "slurm"),
    own(Group::Hosts, &["launcher-agent", "launcher-exec", "bootstrap-exec"], M | I, Opt::Agent,
        "a command in place of ssh, called as COMMAND HOST PROGRAM, or in place of srun or of PALS's mpiexec")
        .takes("COMMAND", "rsh"),
    own(Group::Hosts, &["prefix"], O, Opt::Prefix, "where Catena is on other hosts, if not in the same place: its command is DIR/bin/catena")
        .takes("DIR", "/opt/catena"),
    own(Group::Hosts, &["usize"], M, Opt::Usize, "what MPI_UNIVERSE_SIZE says: a number, SYSTEM (the slots) or INFINITE").takes("N", "8"),
    ignored(&["rmk"], M | I, "the resource manager is found by itself; --launcher names another one").takes("WORD", "slurm"),
    ignored(&["iface"], M | I, "networks are chosen by --set LINK=…, interfaces by what the hosts reach each other over; `catena info LINK`")
        .takes("NAME", "eth0"),
    ignored(&["launch-agent"], O, "--set LAUNCH_PATH says where Catena's command is on other hosts").takes("COMMAND", "orted"),
    ignored(&["localhost", "hosts-group"], M | I, "name hosts with --host").takes("NAME", "a"),
    ignored(&["localroot"], I, "rank 0 is on the first host that is named"),
    moot(&["noprefix", "disable-hostname-propagation", "keep-fqdn-hostnames", "novm", "enable-hostname-propagation"], O | M | I,
        "hosts are called by the names that were given"),
    // Placement.
    own(Group::Placement, &["map-by"], O | M | I, Opt::MapBy,
        "slot, hwthread, core, l1cache, l2cache, l3cache, numa, package or node: in turn; ppr:N:WHAT: N ranks on each; spread: \
         each an equal share of its host's cores (the default); bunch, scatter, hybrid:linear|compact|spread|numa; then \
         :PE=K for K cores a rank (default: OMP_NUM_THREADS, or 1), :NOLOCAL, :OVERSUBSCRIBE, :NOOVERSUBSCRIBE, :HWTCPUS")
        .takes("WHAT", "numa:PE=2"),
    own(Group::Placement, &["rank-by"], O, Opt::RankBy,
        "number ranks as mapped (slot), round the hosts (node), or by what they are mapped to: fill, span").takes("WHAT", "node"),
    own(Group::Placement, &["bind-to", "cpu-bind", "cpu_bind"], O | M | I | S, Opt::BindTo,
        "none, hwthread, core, l1cache, l2cache, l3cache, numa or package (default: what ranks are mapped by). Ranks with \
         more threads than there are cores are not bound, but with :overload-allowed").takes("WHAT", "core"),
    own(Group::Placement, &["cpu-set", "cpu-list"], O, Opt::CpuSet, "use these CPUs of each host only, such as 0-3,8, bound or not")
        .takes("LIST", "0-1"),
    own(Group::Placement, &["rankfile", "rf"], O, Opt::Rankfile, "place rank by rank: rank 0=HOST slot=0-1").takes("FILE", "r"),
    own(Group::Placement, &["use-hwthread-cpus"], O, Opt::HardwareThreads, "take each hardware thread for a core"),
    own(Group::Placement, &["nolocal", "skip-launch-node"], O | M | I, Opt::NoLocal, "no ranks on the host of mpirun"),
    own(Group::Placement, &["nooversubscribe", "no-oversubscribe"], O, Opt::NoOversubscribe, "not more ranks than slots"),
    own(Group::Placement, &["display"], O, Opt::Display,
        "show the map, or map,bindings; or allocation: the hosts and their slots").takes("WHAT", "map"),
    own(Group::Placement, &["report-bindings"], O, Opt::ReportBindings, "the same as --display map,bindings"),
    own(Group::Placement, &["do-not-launch"], O, Opt::DryRun, "run nothing, but show the map"),
    own(Group::Placement, &["topology"], 0, Opt::Topology,
        "run nothing, but show the map for a machine of which lstopo has written the FILE (XML)").takes("FILE", "m.xml"),
    means(&["display-map", "print-rank-map"], O | M | I, "--display map", ""),
    means(&["display-allocation"], O, "--display allocation", ""),
    means(&["display-devel-map"], O, "--display map,bindings", ""),
    means(&["display-topo"], O, "--display map,bindings", "").takes("HOSTS", "all"),
    means(&["bynode", "rr", "loadbalance"], O | I, "--map-by node", ""),
    means(&["byslot"], O, "--map-by slot", ""),
    means(&["bycore"], O, "--map-by core", ""),
    means(&["bysocket"], O, "--map-by package", ""),
    means(&["bind-to-core"], O, "--bind-to core", ""),
    means(&["bind-to-socket"], O, "--bind-to package", ""),
    means(&["bind-to-none", "bind-to-board"], O, "--bind-to none", ""),
    means(&["npersocket"], O, "--map-by ppr:{}:package", "N ranks on each package").takes("N", "2"),
    means(&["cpus-per-proc", "cpus-per-rank", "cpus-per-task"], O | S, "--map-by :pe={}", "N cores for each rank").takes("N", "2"),
    moot(&["oversubscribe", "overcommit", "O"], O | S, "there may be more ranks than slots"),
    ignored(&["membind", "mem-bind", "binding", "topolib"], M | I | S, "ranks are placed by --map-by and --bind-to; memory is that of the node that touches it first")
        .takes("WORD", "local"),
    ignored(&["order-nodes"], M, "name the hosts in the order that you want").takes("WORD", "UP"),
    // Control.
    own(Group::Control, &["timeout"], O, Opt::Timeout,
        "end everything after that time, with status 124 (default: MPIEXEC_TIMEOUT of the environment)").takes("SECONDS", "3"),
    own(Group::Control, &["on-hang"], 0, Opt::OnHang,
        "what to do about a job that hangs: report (the default), end (with status 123), nothing").takes("WORD", "end"),
    own(Group::Control, &["hang-report"], 0, Opt::HangReport,
        "where to write why the job hangs, as JSON").takes("FILE", "hang.json"),
    own(Group::Control, &["trace-report"], 0, Opt::TraceReport,
        "where to write the last MPI calls of each rank if the job fails; `catena trace FILE` shows them").takes("FILE", "trace.txt"),
    own(Group::Control, &["deterministic"], 0, Opt::Deterministic,
        "let reductions give the same bits wherever ranks are; on one node they take up to five times as long"),
    own(Group::Control, &["initial-errhandler"], O | F, Opt::InitialErrhandler,
        "error handler at first: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return").takes("NAME", "mpi_errors_return"),
    own(Group::Control, &["with-ft"], O, Opt::WithFt, "ulfm: go on when ranks die; none: end the job (the default)").takes("WORD", "ulfm"),
    own(Group::Control, &["elastic"], 0, Opt::Elastic,
        "let `catena grow` and `catena shrink` change the number of processes while it runs"),
    own(Group::Control, &["check", "check_mpi", "check-mpi"], I, Opt::Check,
        "look for what the program does wrong with MPI, and say what, where and what to do"),
    own(Group::Control, &["on-check"], 0, Opt::OnCheck,
        "--check, and what to do about errors: report (the default), fail (with status 122, at the end), end (at once)").takes("WORD", "fail"),
    own(Group::Control, &["check-report"], 0, Opt::CheckReport,
        "--check, and where to write what it finds, as JSON").takes("FILE", "check.json"),
    own(Group::Control, &["profile"], M, Opt::Profile,
        "count the MPI calls, and say at the end where the time goes: in which calls, and who waits for whom"),
    own(Group::Control, &["profile-report"], 0, Opt::ProfileReport,
        "--profile, and write it to NAME.json and, as a page with pictures, to NAME.html").takes("NAME", "profile"),
    own(Group::Control, &["explain"], 0, Opt::Explain,
        "say at the end how messages and collectives went: by which ways, as what was planned and as it was"),
    own(Group::Control, &["explain-report"], 0, Opt::ExplainReport,
        "--explain, and write it to FILE as JSON").takes("FILE", "explain.json"),
    own(Group::Control, &["trace"], 0, Opt::Trace,
        "write each MPI call of each rank in time, with arrows for messages, to FILE, which https://ui.perfetto.dev shows")
        .takes("FILE", "out.pftrace"),
    own(Group::Control, &["memory-alloc-kinds"], O | M | F, Opt::MemoryAllocKinds,
        "kinds of memory that the program asks for, such as mpi,system; MPI_INFO_ENV shows them").takes("LIST", "mpi,system"),
    own(Group::Control, &["no-takeover"], 0, Opt::NoTakeover,
        "let programs that were built for MPICH or Open MPI keep their own library, if they find it; otherwise they run on Catena's"),
    own(Group::Control, &["pmix"], 0, Opt::Pmix,
        "be a PMIx server, too: for programs of Open MPI that are not seen to be such, as they are run by a script or an \
         interpreter, and that are to keep its library; needs libpmix"),
    own(Group::Control, &["verbose", "v"], O | M | I | S, Opt::Verbose, "say what is started where"),
    own(Group::Control, &["help", "h"], O | M | I | S, Opt::Help,
        "show this text; --help open-mpi, mpich, intel, slurm or mpi: what the options of these are here"),
    own(Group::Control, &["version", "V", "info"], O | M | I | S, Opt::Version, "show the version"),
    means(&["enable-recovery", "continuous"], O, "--with-ft ulfm", "the job goes on when ranks die"),
    means(&["no-kill"], S, "--with-ft ulfm", "the job goes on when ranks die").maybe("off"),
    means(&["disable-auto-cleanup"], M | I, "--with-ft ulfm --set FAULT_STATUS=first",
        "the job goes on when ranks fail, with the status of the first one; unless one fails before MPI_Init that others wait for there"),
    own(Group::Others, &["runtime-options"], O, Opt::RuntimeOptions,
        "words with commas between them: recoverable, continuous or error-nonzero-status=false lets the job go on when ranks die, donotlaunch \
         shows the map, timeout=SECONDS ends the job; others are passed over with a warning").takes("WORDS", "recoverable"),
    moot(&["allow-run-as-root"], O, "root may run programs, too"),
    moot(&["quiet", "q", "Q"], O | S, "mpirun says nothing unless something is wrong"),
    moot(&["disable-recovery", "cleanup"], O | I, "the job ends when a rank has failed, and leaves nothing behind"),
    moot(&["kill-on-bad-exit", "K"], S, "the job ends when a rank has failed; --with-ft ulfm lets the others go on").maybe("0|1"),
    moot(&["noconf", "silent-abort", "no-ready-msg", "enable-x", "disable-x"], I | M | O, "there is nothing of that kind"),
    moot(&["forward-signals"], O, "SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on").takes("LIST", "SIGUSR1"),
    moot(&["personality", "mpi"], O | S, "there is one").takes("WORD", "ompi"),
    ignored(&["xterm"], O, "to run ranks in windows, write: xterm -e PROGRAM").takes("RANKS", "0"),
    ignored(&["gdb", "tv", "debug", "totalview", "ddt"], O | M | I, DEBUG),
    ignored(&["debugger", "gdb-args"], O | I, DEBUG).takes("NAME", "gdb"),
    ignored(&["debug-daemons", "debug-daemons-file", "debug-devel", "leave-session-attached", "show-progress", "print-all-exitcodes", "exitinfo"],
        O | M | I, "--verbose says what is started where"),
    ignored(&["report-pid", "report-uri"], O, "--verbose tells process numbers").takes("FILE", "-"),
    ignored(&["spawn-timeout"], O, "--set LAUNCH_TIMEOUT=… says how long daemons may take to start").takes("SECONDS", "9"),
    ignored(&["stop-in-init", "stop-in-app"], O, DEBUG),
    ignored(&["report-child-jobs-separately"], O, "what has been spawned tells of its failures by the errors that its parents get"),
    ignored(&["report-state-on-timeout", "get-stack-traces", "stop-on-exec"], O, "after --timeout the ranks get SIGTERM, which a program can handle"),
    ignored(&["max-restarts"], O, "ranks that have failed are not started again; --with-ft ulfm lets the others go on").takes("N", "1"),
    ignored(&["tmpdir", "ckpoint-prefix", "ckpointlib", "ckpoint-interval"], I | M, "mpirun keeps no files").takes("DIR", "/tmp"),
    ignored(&["set-cwd-to-session-dir"], O, "there is no such folder; -wdir names a working directory"),
    ignored(&["dvm-uri", "dvm", "ompi-server", "hnp", "nameserver", "singleton", "keepalive"], O | M | I,
        "each mpirun starts its job by itself; jobs meet by MPI_Comm_connect")
        .takes("PLACE", "x"),
    ignored(&["system-server", "set-sid"], O, "each mpirun starts its job by itself"),
    ignored(&["pmi-port"], M, "ranks find their launcher by themselves"),
    ignored(&["add-host"], O, "--host names all hosts that the job or what it spawns may use").takes("LIST", "a"),
    ignored(&["add-hostfile"], O, "--hostfile names all hosts that the job or what it spawns may use").takes("FILE", "a"),
    ignored(&["max-vm-size"], O, "a daemon is started on each host that is used").takes("N", "2"),
    ignored(&["hetero-nodes", "no-app-prefix"], O, "each host tells of its own machine, and of its own folders"),
    ignored(&["gpus-per-proc"], M, "the program chooses its device, by CATENA_LOCAL_RANK").takes("N", "1"),
    ignored(&["hybrid-hosts"], M, "hosts need not share folders; Catena and the program must be there on each"),
    ignored(&["rankmap"], M, "--rankfile places rank by rank, and --host names hosts with numbers of ranks").takes("TEXT", "0"),
    means(&["prot"], I, "--set LINK_REPORT=true", "each rank says how it reaches others"),
    ignored(&["demux"], M, "there is one way").takes("WORD", "poll"),
    ignored(&["aps", "mps", "ilp64", "dapl", "DAPL", "rdma", "RDMA", "ib", "IB", "psm", "PSM", "psm2", "PSM2"], I,
        "networks are chosen by --set LINK=…, and tools stand before the program"),
];

/// Options of others that mean something else here, or nothing: whose, what it is there, and what
/// to write here. The help for that launcher and the page name them.
pub const DIFFERENT: &[(&str, &str, &str)] = &[
    (
        "slurm",
        "-N, --nodes N",
        "-ppn K: K ranks on each of the hosts of the allocation",
    ),
    (
        "slurm",
        "-c N",
        "--cpus-per-task N, or --map-by :PE=N; -c is the number of ranks",
    ),
    (
        "slurm",
        "-o, --output FILE, -e, --error FILE",
        "-outfile-pattern FILE, -errfile-pattern FILE, with %r for srun's %t",
    ),
    ("slurm", "-t, --time TIME", "--timeout SECONDS"),
    (
        "slurm",
        "-m, --distribution block|cyclic",
        "--map-by slot, --map-by node",
    ),
    (
        "slurm",
        "--multi-prog FILE",
        "-configfile FILE, with -n N in place of a range of ranks",
    ),
    ("slurm", "-D DIR", "-wdir DIR"),
    (
        "slurm",
        "-p, --partition, -A, --account, --qos, --mem, --mem-per-cpu, --gres, -G, --gpus, -J, --job-name, -C, --constraint, -x, --exclude, --exclusive, --reservation, --begin, --dependency",
        "nothing: salloc and sbatch take these, and mpirun uses the hosts that they have given",
    ),
    (
        "slurm",
        "-i, --input FILE",
        "< FILE, and --stdin for the ranks that read it",
    ),
    (
        "open-mpi",
        "-s (preload the binary)",
        "nothing: -s names the ranks that read standard input, as of Intel MPI",
    ),
    (
        "intel",
        "-t (trace)",
        "nothing: the tool stands before the program",
    ),
];
