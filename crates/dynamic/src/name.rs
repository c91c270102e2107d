//! Services that are published with their ports (MPI-5, chapter 11.9.4), for the jobs of
//! one launcher. A service is withdrawn when the process ends that has published it.

use catena_core::Process;
use catena_objects::error::{Kind, Result};

use crate::port::check_name;

/// `MPI_Publish_name`.
///
/// # Errors
/// `Port` if no port has such a name; `Service` if it is published already, or no launcher of
/// Catena's has started this process; as [`Process::with_jobs`].
pub fn publish(process: &Process, service: &str, port: &str) -> Result<()> {
    check_name(port)?;
    let asked = process.with_jobs(|jobs| jobs.publish_service(service, port));
    let ticket = asked.map_err(|e| e.where_unsupported(Kind::Service))?;
    process.outcome(ticket, Kind::Service).map(drop)
}

/// `MPI_Lookup_name`: the port of a service.
///
/// # Errors
/// `Name` if nobody has published it, or no launcher of Catena's has started this process; as
/// [`Process::with_jobs`].
pub fn look_up(process: &Process, service: &str) -> Result<String> {
    let asked = process.with_jobs(|jobs| jobs.look_up_service(service));
    let ticket = asked.map_err(|e| e.where_unsupported(Kind::Name))?;
    let port = process.outcome(ticket, Kind::Name)?;
    Ok(String::from_utf8_lossy(&port).into_owned())
}

/// `MPI_Unpublish_name`.
///
/// # Errors
/// `Service` if it is not published with that port; as [`Process::with_jobs`].
pub fn withdraw(process: &Process, service: &str, port: &str) -> Result<()> {
    check_name(port)?;
    let asked = process.with_jobs(|jobs| jobs.withdraw_service(service, port));
    let ticket = asked.map_err(|e| e.where_unsupported(Kind::Service))?;
    process.outcome(ticket, Kind::Service).map(drop)
}
