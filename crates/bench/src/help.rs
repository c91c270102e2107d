//! What `catena bench --help` says.

/// The text.
pub const HELP: &str = "\
usage: catena bench NAME... [options]              measure
       catena bench compare NAME... [options]      measure side by side, and judge
       catena bench guidelines [NAME...] [options] find what loses to other calls that do its work
       catena bench report FILE... [-G KINDS]      show what was measured before
       catena bench list                           show what can be measured

NAME is a benchmark, a family of them, or all; sizes may follow (latency:8,64K).
Of several names that mean a benchmark the first one counts.

Every launch of the measuring program gives one number for each benchmark and
size: the median of its repetitions. Intervals and tests are about these, since
repetitions within a launch share its luck. Launches go on in rounds until the
interval of their median is narrow enough, which takes five of them at least; in
a round everything runs once, in an order drawn anew. All repetitions are kept in
a file, line by line as they come.

what to measure
  -n RANKS[,RANKS...]     numbers of ranks (2)
  --lib NAME[=PREFIX],... libraries: catena (this one), mpich, intel and openmpi if
                          they are on PATH, and others by the folder that has
                          bin and lib. For Open MPI the measuring program is
                          compiled once (kept in ~/.cache/catena)
  --link VALUE,...        values of CATENA_LINK
  --setting NAME=VALUE,...
                          a setting of Catena (see `catena info`)
  --env NAME=VALUE,...    an environment variable
  --env LIB:NAME=VALUE    one of this library alone, with all commas; one library may
                          stand in --lib under several names, each with its own
  --commit A,B            versions of Catena, built from the git repository here
                          Several values of these give several variants; an
                          option that is given again adds a value with commas
how to start it
  --launcher COMMAND      start programs by this, such as \"srun --mpi=pmix\", and not
                          by each library's own launcher
  --host a:2,b:2          run on these hosts
  --launcher-agent COMMAND
                          a command in place of ssh, called as COMMAND HOST PROGRAM
  --no-pin                leave ranks where launcher and library put them; without
                          it rank r runs on the r-th core of those it may use
when to stop
  --launches FEWEST:MOST  launches of each variant (10:30)
  --precision PERCENT     half-width of the interval that is narrow enough (2)
  --confidence PERCENT    of intervals and tests (95)
  --at-most SECONDS       for all; each launch has its share of what is left, and
                          begins nothing more after it: the next one goes on there
  --limit SECONDS         end a launch that says nothing for so long (60)
  --seed N                of the order of launches (drawn; the file tells it)
  --resume FILE           go on with a session that was interrupted, as the file says:
                          only what to show, --at-most and --rebuilt may be said anew
  --builds-of FILE        measure only if libraries are the builds whose figures this file
                          of raw data has, which needs one of them at least; --resume does
                          that by itself
  --rebuilt               figures of several builds of a library are taken together, by
                          --resume, --builds-of and report, which refuse that else; a note
                          tells of it for ever
what to show
  -o, --output FILE       raw data (catena-bench-DATE.jsonl); of a report and of --resume,
                          what -G names its files after
  --label WORDS           what tells this session from others: `report` shows files
                          with different labels side by side, and takes those with
                          the same one together
  --margin PERCENT        smaller differences do not matter (1)
  --aims FILE             of compare: what the first variant's ratio to the best of
                          the others should be; lines such as `latency:8  2-4  0.9`
                          (benchmarks, ranks, at most this many times its time or at
                          least this many times its rate; the first that fits counts;
                          lines that fit nothing are told, and status 2 if none does)
  -f, --full              the least and the most launch, too
  -z P,P...               percentiles of single operations; of compare, those of the
                          first variant and of the other
  -G KINDS                tty: graphs here; html, svg, pdf, png, csv, json: files
                          beside the raw data (png by rsvg-convert, inkscape, magick or
                          convert; of more than 24 charts several)
how the program measures (as in the OSU micro-benchmarks where they have it)
  -m [MIN:]MAX, --sizes A,B,...     bytes: 8, 64K, 1M
  --samples N, --seconds S          repetitions of a size, and the time for them
  -i N, -x N                        operations in a repetition; before the first
  --warm SECONDS                    most time to warm up: as OMB does, and until two
                                    windows of operations take as long as each other
  --start window|barrier            ranks begin at an agreed time, or when the last has come
  --apart US                        rank r of `..._late` comes r times so much later
  -W N, -p N, -b single|multiple    window, pairs, buffers
  -V                                all windows from 1 to 128 where pairs stream
  --no-validation, --checks N, -u N do not check what arrives; how many operations are
                                    checked behind the repetitions of a size (1000), and
                                    how many are not before (-c, always, so that wrong
                                    data win nothing)
  -P EVENT,...|all                  count events of the processor and the kernel, of
                                    all ranks together and for one operation
  -T TYPE,... -D cont|vect:STRIDE:BLOCK|indx:FILE    datatypes
  -l, -k fixed:R|rotate             in place; root
  -N cart:DIMS:RADIUS|graph:FILE    neighbours
  -t [SENDERS:]N                    calls of MPI_Test; threads, processes
  -w create|allocate|dynamic -s lock|flush|fence|... windows
  -I, -M BYTES, -d host|cuda|rocm   sessions; most memory, and of which kind
  --program PATH                    another measuring program

The first variant is judged next to each of the others. Its ratio is the median
of the ratios of all pairs of launches; a verdict needs a rank-sum test that stays
significant when corrected for the number of comparisons (Benjamini and Hochberg):
a whole table of equals raises a false alarm in one of twenty at most, and of the
verdicts of any table one in twenty at most is false. No different are two whose
interval is within 5 %; what is neither is unknown, and takes more launches. If the machine has
two states, as virtual machines whose cores move, launches are only compared
within one, and ratios are of the one that most launches were in.

Status: 0; 1 if the first variant is worse somewhere (with --aims: if it surely
misses one) or delivers wrong data, or a guideline is broken; 2 for a wrong
command line; 3 if some launches failed or another variant delivers wrong data,
and the rest is sound, or if nothing could be measured; 130 if interrupted (the
file can be gone on with).
";
