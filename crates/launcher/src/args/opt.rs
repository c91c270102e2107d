//! The options of mpirun's own.

/// An option of mpirun's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opt {
    Count,
    Soft,
    Export,
    Env,
    Genv,
    Envlist,
    Genvlist,
    Envnone,
    Genvnone,
    Envall,
    SlurmExport,
    Wdir,
    Path,
    File,
    Configfile,
    Set,
    Pset,
    InitialErrhandler,
    WithFt,
    MemoryAllocKinds,
    Tag,
    Stamp,
    Merge,
    OutputFilename,
    Outfile,
    Errfile,
    OutputWords,
    Stdin,
    BindTo,
    MapBy,
    RankBy,
    CpuSet,
    HardwareThreads,
    NoLocal,
    NoOversubscribe,
    Rankfile,
    Display,
    ReportBindings,
    DryRun,
    Topology,
    OnHang,
    Deterministic,
    HangReport,
    TraceReport,
    OnCheck,
    CheckReport,
    Profile,
    ProfileReport,
    Explain,
    ExplainReport,
    Trace,
    Timeout,
    Verbose,
    Host,
    Hostfile,
    Ppn,
    Agent,
    Launcher,
    Bootstrap,
    Prefix,
    Usize,
    Pmix,
    NoTakeover,
    Elastic,
    Check,
    RuntimeOptions,
    Help,
    Version,
}

impl Opt {
    /// Whether it may stand before any program: it is about that one, or says by itself that it is
    /// about all.
    pub fn is_of_program(self) -> bool {
        use Opt::*;
        matches!(
            self,
            Count
                | Soft
                | Export
                | Env
                | Genv
                | Envlist
                | Genvlist
                | Envnone
                | Genvnone
                | Envall
                | SlurmExport
                | Wdir
                | Path
                | File
                | Pset
                | Host
                | Hostfile
                | Ppn
                | Verbose
                | Help
                | Version
        )
    }
}
