//! What arguments mean, checked against their C types, each other and the standard.

use catena_abi::meaning::{Direction, Kind, Length};
use catena_abi::table::{ARGUMENTS, Arg, Constant, Function, chapters, constants, functions};

const HANDLES: [&str; 17] = [
    "MPI_Comm",
    "MPI_Datatype",
    "MPI_Errhandler",
    "MPI_File",
    "MPI_Group",
    "MPI_Info",
    "MPI_Message",
    "MPI_Op",
    "MPI_Request",
    "MPI_Session",
    "MPI_T_cvar_handle",
    "MPI_T_enum",
    "MPI_T_event_instance",
    "MPI_T_event_registration",
    "MPI_T_pvar_handle",
    "MPI_T_pvar_session",
    "MPI_Win",
];

/// Calls `check` with every argument of every function.
fn each(mut check: impl FnMut(&Function, &Arg)) {
    for function in functions() {
        for arg in &function.args {
            check(&function, arg);
        }
    }
}

fn is_function(ty: &str) -> bool {
    ty.trim_end_matches("_c").ends_with("_function")
}

fn place(function: &Function, arg: &Arg) -> String {
    format!("{}, {}: {:?}", function.name, arg.declaration, arg.meaning)
}

#[test]
fn directions_agree_with_const() {
    // Pointers that the standard's C bindings leave without `const` though MPI only reads.
    let mut odd = Vec::new();
    each(|f, a| {
        let at = place(f, a);
        if !a.is_pointer() || a.ty.starts_with("const ") {
            assert_eq!(a.meaning.direction, Direction::In, "{at}");
        } else if a.meaning.direction == Direction::In
            && !matches!(
                a.meaning.kind,
                Kind::Address | Kind::Memory | Kind::State | Kind::Attribute | Kind::Object
            )
        {
            odd.push(format!("{} {}", f.name, a.name));
        }
    });
    assert_eq!(odd, ODD);
}

#[test]
fn kinds_agree_with_c_types() {
    each(|f, a| {
        let (base, at) = (a.base(), place(f, a));
        let one_of = |types: &[&str]| assert!(types.contains(&base), "{at}");
        match a.meaning.kind {
            Kind::Buffer(_) | Kind::Memory | Kind::Address | Kind::State => one_of(&["void"]),
            Kind::Attribute | Kind::Object => one_of(&["void"]),
            Kind::Handle => one_of(&HANDLES),
            Kind::HandleNumber | Kind::Rank | Kind::Tag | Kind::Error => one_of(&["int"]),
            Kind::Keyval | Kind::Weight | Kind::Logical => one_of(&["int"]),
            Kind::Constant => one_of(&["int", "MPI_T_cb_safety", "MPI_T_source_order"]),
            Kind::Length | Kind::Index => one_of(&["int"]),
            Kind::Status => one_of(&["MPI_Status"]),
            Kind::String | Kind::Strings => one_of(&["char"]),
            Kind::Count => one_of(&["int", "MPI_Count"]),
            Kind::Displacement => one_of(&["int", "MPI_Aint", "MPI_Count"]),
            Kind::Bytes => one_of(&["int", "MPI_Aint", "MPI_Count"]),
            Kind::Offset => one_of(&["MPI_Offset"]),
            Kind::Integer => one_of(&["int", "MPI_Count"]),
            Kind::Callback => assert!(is_function(base), "{at}"),
            Kind::Varargs => one_of(&["..."]),
        }
        // And the other way round, where a C type has one meaning.
        assert_eq!(
            HANDLES.contains(&base),
            a.meaning.kind == Kind::Handle,
            "{at}"
        );
        assert_eq!(base == "MPI_Status", a.meaning.kind == Kind::Status, "{at}");
        assert_eq!(base == "MPI_Offset", a.meaning.kind == Kind::Offset, "{at}");
        assert_eq!(is_function(base), a.meaning.kind == Kind::Callback, "{at}");
    });
}

#[test]
fn lengths_name_what_tells_them() {
    let constants = constants();
    let is_constant = |wanted: &str| {
        constants.iter().any(|c| match c {
            Constant::Value { name, .. } | Constant::Same { name, .. } => *name == wanted,
            _ => false,
        })
    };
    each(|f, a| {
        let at = place(f, a);
        let (kind, length) = (&a.meaning.kind, a.meaning.length);
        let is_array = a.declaration.contains('[');
        if is_array && !matches!(kind, Kind::String | Kind::Strings) {
            assert!(length.is_some(), "{at}");
        }
        if length.is_some() {
            assert!(a.is_pointer(), "{at}");
        }
        if *kind == Kind::String {
            assert_eq!(
                length.is_some(),
                a.meaning.direction != Direction::In,
                "{at}"
            );
        }
        assert!(*kind != Kind::Memory || length.is_some(), "{at}");
        let named = length.and_then(Length::argument);
        let named = named.map(|name| f.arg(name).unwrap_or_else(|| panic!("{at}")));
        match length {
            None => {}
            Some(Length::Constant(name)) => assert!(is_constant(name), "{at}"),
            Some(Length::Argument(_) | Length::AndZero(_) | Length::Triples(_)) => {
                let n = named.unwrap();
                assert!(
                    matches!(n.meaning.kind, Kind::Count | Kind::Length | Kind::Bytes),
                    "{at}"
                );
                assert_eq!(n.meaning.length, None, "{at}");
                // It is known when the call begins.
                assert_ne!(n.meaning.direction, Direction::Out, "{at}");
            }
            Some(Length::Sum(_) | Length::Last(_)) => {
                assert!(named.unwrap().meaning.length.is_some(), "{at}");
            }
            Some(Length::Of(_)) => assert_eq!(named.unwrap().meaning.kind, Kind::Handle, "{at}"),
            Some(_) => assert_eq!(named.unwrap().ty, "MPI_Comm", "{at}"),
        }
    });
}

#[test]
fn buffers_have_counts_and_types() {
    let mut untold = Vec::new();
    each(|f, a| {
        let Kind::Buffer(names) = &a.meaning.kind else {
            return;
        };
        let at = place(f, a);
        let told: Vec<_> = names
            .iter()
            .map(|n| f.arg(n).unwrap_or_else(|| panic!("{at}")))
            .collect();
        let Some((ty, before)) = told.split_last() else {
            untold.push(f.name);
            return;
        };
        assert_eq!(
            (&ty.meaning.kind, ty.base()),
            (&Kind::Handle, "MPI_Datatype"),
            "{at}"
        );
        let kinds: Vec<_> = before.iter().map(|b| b.meaning.kind.clone()).collect();
        let (count, displacement) = (Kind::Count, Kind::Displacement);
        let known = [
            vec![],
            vec![count.clone()],
            vec![count.clone(), count.clone()],
            vec![count, displacement],
        ];
        assert!(known.contains(&kinds), "{at}");
        for other in &told {
            // What tells of a buffer that matters at the root alone may matter elsewhere.
            assert!(!other.meaning.root_only || a.meaning.root_only, "{at}");
            assert_eq!(other.meaning.direction, Direction::In, "{at}");
        }
    });
    assert!(
        untold
            .iter()
            .all(|name| name.starts_with("MPI_File_") && name.ends_with("_end"))
    );
    assert_eq!(untold.len(), 6);
    // Every type of elements that a call with a buffer gets belongs to a buffer or the target.
    for f in functions() {
        let told: Vec<_> = f
            .args
            .iter()
            .flat_map(|a| match &a.meaning.kind {
                Kind::Buffer(names) => names.clone(),
                _ => Vec::new(),
            })
            .collect();
        let types = f
            .args
            .iter()
            .filter(|a| a.base() == "MPI_Datatype" && !a.name.starts_with("target_"));
        for ty in types.filter(|_| !told.is_empty()) {
            assert!(told.contains(&ty.name), "{}", place(&f, ty));
        }
    }
}

#[test]
fn large_counts_differ_in_integers_alone() {
    let all = functions();
    for large in all.iter().filter(|f| f.name.ends_with("_c")) {
        let small = large.name.trim_end_matches("_c");
        let small = all.iter().find(|f| f.name == small).unwrap();
        let more = large
            .args
            .iter()
            .filter(|a| small.arg(a.name).is_none())
            .map(|a| a.name);
        let expected: &[&str] = match small.name {
            "MPI_Type_get_contents" => &["max_large_counts", "array_of_large_counts"],
            "MPI_Type_get_envelope" => &["num_large_counts"],
            _ => &[],
        };
        assert_eq!(more.collect::<Vec<_>>(), expected, "{}", large.name);
        for a in &small.args {
            let b = large.arg(a.name).unwrap();
            assert_eq!(a.meaning, b.meaning, "{}", place(large, b));
            let grows = matches!(
                (a.base(), b.base()),
                ("int", "MPI_Count" | "MPI_Aint") | ("MPI_Aint", "MPI_Count")
            );
            let callback = a.meaning.kind == Kind::Callback;
            assert!(a.ty == b.ty || grows || callback, "{}", place(large, b));
        }
    }
}

#[test]
fn root_only_needs_a_root() {
    each(|f, a| {
        if a.meaning.root_only {
            assert_eq!(
                f.arg("root").map(|r| &r.meaning.kind),
                Some(&Kind::Rank),
                "{}",
                place(f, a)
            );
        }
    });
}

#[test]
fn both_tables_have_the_same_order() {
    let names: Vec<_> = functions().iter().map(|f| f.name).collect();
    let lines = ARGUMENTS.lines().filter(|l| l.starts_with("MPI_"));
    let mut at = 0;
    for name in lines.map(|l| l.split_once("  ").unwrap().0) {
        let found = names[at..].iter().position(|n| *n == name);
        at += found.unwrap_or_else(|| panic!("{name} is no function, or not in its place"));
    }
    let titles: Vec<_> = ARGUMENTS.lines().filter(|l| l.starts_with('[')).collect();
    let expected = chapters()
        .into_iter()
        .map(|c| format!("[{}] {}", c.name, c.title));
    assert_eq!(titles, expected.collect::<Vec<_>>());
}

#[test]
fn extensions_are_in_their_header() {
    let header = include_str!("../../../include/mpi-ext.h");
    for f in catena_abi::table::extensions() {
        let bare = f.name.trim_start_matches("MPIX_").trim_end_matches("_c");
        let declared = [
            format!("P##{bare}("),
            format!("P##{bare}##C("),
            format!("MPIX_{bare}("),
        ];
        assert!(declared.iter().any(|it| header.contains(it)), "{}", f.name);
    }
}

/// Pointers without `const` that MPI only reads.
const ODD: [&str; 7] = [
    "MPI_Cancel request",
    "MPI_Group_range_excl ranges",
    "MPI_Group_range_incl ranges",
    "MPI_Info_create_env argv",
    "MPI_Comm_spawn argv",
    "MPI_Comm_spawn_multiple array_of_commands",
    "MPI_Comm_spawn_multiple array_of_argv",
];

/// What the standard says of some arguments of each chapter.
const SPOTS: &[(&str, &str, &[&str])] = &[
    (
        "env",
        "MPI_Init_thread",
        &["required constant", "provided out constant"],
    ),
    (
        "env",
        "MPI_Get_processor_name",
        &[
            "name out string[MPI_MAX_PROCESSOR_NAME]",
            "resultlen out length",
        ],
    ),
    (
        "env",
        "MPI_Alloc_mem",
        &["size bytes", "baseptr out address"],
    ),
    (
        "p2p",
        "MPI_Sendrecv",
        &[
            "sendbuf in buffer(sendcount sendtype)",
            "recvtag tag",
            "status out status",
        ],
    ),
    ("p2p", "MPI_Mrecv", &["message inout handle"]),
    (
        "p2p",
        "MPI_Testsome",
        &[
            "array_of_requests inout handle[incount]",
            "array_of_indices out index[incount]",
        ],
    ),
    (
        "p2p",
        "MPI_Isendrecv_replace",
        &["buf inout buffer(count datatype)"],
    ),
    (
        "p2p",
        "MPI_Request_get_status",
        &["request handle", "flag out logical"],
    ),
    (
        "p2p",
        "MPI_Buffer_detach",
        &["buffer_addr out address", "size out bytes"],
    ),
    (
        "partitioned",
        "MPI_Psend_init",
        &[
            "buf in buffer(partitions count datatype)",
            "partitions count",
        ],
    ),
    (
        "partitioned",
        "MPI_Pready_list",
        &["array_of_partitions in index[length]"],
    ),
    (
        "datatype",
        "MPI_Pack",
        &["outbuf out memory[outsize]", "position inout displacement"],
    ),
    (
        "datatype",
        "MPI_Type_create_struct",
        &["array_of_types in handle[count]", "newtype out handle"],
    ),
    (
        "datatype",
        "MPI_Type_get_contents",
        &["array_of_integers out integer[max_integers]"],
    ),
    ("datatype", "MPI_Type_commit", &["datatype inout handle"]),
    (
        "coll",
        "MPI_Bcast",
        &["buffer inout buffer(count datatype)", "root rank"],
    ),
    (
        "coll",
        "MPI_Gatherv",
        &[
            "recvbuf out buffer(recvcounts displs recvtype) root",
            "displs in displacement[ranks comm] root",
        ],
    ),
    (
        "coll",
        "MPI_Ialltoallw",
        &[
            "sendbuf in buffer(sendcounts sdispls sendtypes)",
            "recvtypes in handle[ranks comm]",
        ],
    ),
    (
        "coll",
        "MPI_Reduce_scatter",
        &[
            "sendbuf in buffer(recvcounts datatype)",
            "recvbuf out buffer(recvcounts datatype)[own comm]",
        ],
    ),
    (
        "coll",
        "MPI_Scatter_init",
        &[
            "sendbuf in buffer(sendcount sendtype)[ranks comm] root",
            "recvcount count",
        ],
    ),
    (
        "coll",
        "MPI_Op_create",
        &["user_fn callback", "commute logical", "op out handle"],
    ),
    ("group", "MPI_Group_range_incl", &["ranges in rank[n 3]"]),
    (
        "group",
        "MPI_Group_translate_ranks",
        &["ranks1 in rank[n]", "ranks2 out rank[n]"],
    ),
    (
        "comm",
        "MPI_Comm_split",
        &["color constant", "key integer", "newcomm out handle"],
    ),
    (
        "comm",
        "MPI_Comm_get_name",
        &["comm_name out string[MPI_MAX_OBJECT_NAME]"],
    ),
    (
        "attributes",
        "MPI_Comm_create_keyval",
        &[
            "comm_copy_attr_fn callback",
            "comm_keyval out keyval",
            "extra_state in state",
        ],
    ),
    (
        "attributes",
        "MPI_Win_get_attr",
        &["attribute_val out attribute", "flag out logical"],
    ),
    (
        "topology",
        "MPI_Graph_create",
        &["indx in index[nnodes]", "edges in rank[last indx]"],
    ),
    (
        "topology",
        "MPI_Dist_graph_create",
        &[
            "destinations in rank[sum degrees]",
            "weights in weight[sum degrees]",
        ],
    ),
    (
        "topology",
        "MPI_Cart_sub",
        &["remain_dims in logical[dims comm]"],
    ),
    (
        "topology",
        "MPI_Neighbor_alltoallv",
        &[
            "sendcounts in count[destinations comm]",
            "recvcounts in count[sources comm]",
        ],
    ),
    (
        "topology",
        "MPI_Dims_create",
        &["dims inout integer[ndims]"],
    ),
    (
        "errors",
        "MPI_Error_string",
        &["errorcode error", "string out string[MPI_MAX_ERROR_STRING]"],
    ),
    (
        "errors",
        "MPI_Errhandler_free",
        &["errhandler inout handle"],
    ),
    (
        "info",
        "MPI_Info_get",
        &["value out string[valuelen +1]", "flag out logical"],
    ),
    (
        "info",
        "MPI_Info_get_string",
        &["buflen inout length", "value out string[buflen]"],
    ),
    (
        "session",
        "MPI_Session_get_nth_pset",
        &["pset_len inout length", "pset_name out string[pset_len]"],
    ),
    (
        "dynamic",
        "MPI_Comm_spawn",
        &[
            "argv in strings root",
            "maxprocs count root",
            "array_of_errcodes out error[maxprocs]",
        ],
    ),
    (
        "dynamic",
        "MPI_Open_port",
        &["port_name out string[MPI_MAX_PORT_NAME]"],
    ),
    (
        "rma",
        "MPI_Get_accumulate",
        &[
            "origin_addr in buffer(origin_count origin_datatype)",
            "result_addr out buffer(result_count result_datatype)",
        ],
    ),
    (
        "rma",
        "MPI_Fetch_and_op",
        &[
            "origin_addr in buffer(datatype)",
            "target_disp displacement",
        ],
    ),
    (
        "rma",
        "MPI_Win_create",
        &["base in memory[size]", "disp_unit bytes", "win out handle"],
    ),
    (
        "external",
        "MPI_Grequest_start",
        &[
            "query_fn callback",
            "extra_state in state",
            "request out handle",
        ],
    ),
    (
        "external",
        "MPI_Status_set_cancelled",
        &["status inout status", "flag logical"],
    ),
    (
        "io",
        "MPI_File_read_at",
        &[
            "offset offset",
            "buf out buffer(count datatype)",
            "status out status",
        ],
    ),
    ("io", "MPI_File_write_all_end", &["buf in buffer()"]),
    (
        "io",
        "MPI_File_get_view",
        &[
            "disp out offset",
            "datarep out string[MPI_MAX_DATAREP_STRING]",
        ],
    ),
    (
        "tool",
        "MPI_T_cvar_get_info",
        &[
            "name out string[name_len]",
            "name_len inout length",
            "scope out constant",
        ],
    ),
    ("tool", "MPI_T_pvar_read", &["buf out memory[of handle]"]),
    (
        "tool",
        "MPI_T_category_get_cvars",
        &["indices out index[len]"],
    ),
    ("abi", "MPI_Comm_fromint", &["comm handle_number"]),
    (
        "abi",
        "MPI_Abi_get_fortran_booleans",
        &[
            "logical_true out memory[logical_size]",
            "is_set out logical",
        ],
    ),
    (
        "removed",
        "MPI_Type_struct",
        &[
            "array_of_blocklengths in count[count]",
            "array_of_types in handle[count]",
        ],
    ),
];

#[test]
fn spots_agree_with_the_standard() {
    let all = functions();
    for (chapter, name, expected) in SPOTS {
        let function = all.iter().find(|f| f.name == *name).unwrap();
        assert_eq!(function.chapter, *chapter, "{name}");
        let mut lines = ARGUMENTS.lines().filter_map(|l| l.split_once("  "));
        let (_, line) = lines.find(|(n, _)| n == name).unwrap();
        for spot in *expected {
            assert!(line.split(", ").any(|arg| arg == *spot), "{name}: {spot}");
        }
    }
    for chapter in chapters() {
        assert!(
            SPOTS.iter().any(|(name, ..)| *name == chapter.name),
            "{}",
            chapter.name
        );
    }
}
