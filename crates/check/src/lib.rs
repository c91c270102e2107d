//! Row 8: the tool that `mpirun --check` has each rank load before everything else. It finds what
//! programs do wrong, as far as that can be seen in a process.
//!
//! It is a shared library, `libcatena_check.so`, and stands between a program and MPI: its
//! functions are called in the place of the library's (`MPI_Send`, `PMPI_Send`, and
//! `catena_MPI_Send` for libraries with the ABIs of other MPIs), look at the arguments, call the
//! library's, and look at what has come of it. Which arguments mean what, the table of `catena-abi`
//! says; so a function that the standard adds needs nothing here. It asks the library by functions
//! of the standard alone, so it serves other libraries with the standard's ABI as well. It costs
//! nothing where it is not loaded. What it has in common with other tools is in `catena-tool`.
//!
//! | file       | what                                                                  |
//! |------------|-----------------------------------------------------------------------|
//! | `entry`    | the functions under the names of MPI's                                |
//! | `around`   | what is looked at before a call, and after it                         |
//! | `guard`    | whether a thread is in the tool                                       |
//! | `jumped`   | calls that an error handler has jumped out of                         |
//! | `site`     | where in the program a call stands                                    |
//! | `tell`     | what a user is told, and that only once                               |
//! | `once`     | what another rank of the host has told already                        |
//! | `objects`  | communicators, types and other objects: gone, or left at the end      |
//! | `types`    | which bytes the elements of a type take                               |
//! | `buffers`  | which memory a call uses                                              |
//! | `bounds`   | whether there is as much memory as a call takes it to be              |
//! | `variables` | whether buffers are as the program has declared them                 |
//! | `contents` | what datatypes were made of                                           |
//! | `leaves`   | what the elements of datatypes are made of                            |
//! | `maps`     | which memory the process has                                          |
//! | `returned` | memory of functions that have returned                                |
//! | `overlaps` | memory that two operations use at once                                |
//! | `sums`     | sums of memory, by which a change is seen                             |
//! | `requests` | requests, their states, and memory in use                             |
//! | `shadow`   | memory that MPI writes instead of the program's                       |
//! | `alike`    | handles of their own for requests that are complete at once            |
//! | `windows`  | windows and their epochs                                              |
//! | `access`   | accesses to windows, and which of them conflict                       |
//! | `letters`  | what ranks tell each other of epochs that are posted                  |
//! | `own`      | communicators of the tool's own                                       |
//! | `exchange` | how ranks tell each other what they have done with windows            |
//! | `profiled` | calls by the names of the profiling interface                        |
//! | `refused`  | calls that the library refuses                                        |
//! | `differ`   | messages whose types are not those of their receives                 |
//! | `threads`  | which threads may call                                                |
//! | `spawned`  | threads that the program has made                                     |
//! | `collectives` | threads that call collectives at the same time                     |
//! | `life`     | the beginning and the end                                             |
//! | `behind`   | functions of the C library that the tool stands before                |
//! | `memory`   | the functions by which memory comes and goes                          |
//! | `heap`     | the blocks of memory that the program has                             |

mod access;
mod alike;
mod around;
mod behind;
mod bounds;
mod buffers;
mod collectives;
mod contents;
mod differ;
mod entry;
mod exchange;
mod guard;
mod heap;
mod jumped;
mod leaves;
mod letters;
mod life;
mod maps;
mod memory;
mod objects;
mod once;
mod overlaps;
mod own;
mod profiled;
mod refused;
mod requests;
mod returned;
mod shadow;
mod site;
mod spawned;
mod sums;
mod tell;
mod threads;
mod types;
mod variables;
mod windows;

use catena_tool::{call, mpi, next, stack};
