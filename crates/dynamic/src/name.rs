//! Services that are published with their ports (MPI-5, chapter 11.9.4), for the jobs of
//! one launcher. A service is withdrawn when the process ends that has published it.

use catena_core::Process;
use catena_objects::error::{Kind, Result};

/// `MPI_Publish_name`.
///
/// # Errors
/// `Service` if it is published already; as [`Process::with_jobs`].
pub fn publish(process: &Process, service: &str, port: &str) -> Result<()> {
    let ticket = process.with_jobs(|jobs| jobs.publish_service(service, port))?;
    process.outcome(ticket, Kind::Service).map(drop)
}

/// `MPI_Lookup_name`: the port of a service.
///
/// # Errors
/// `Name` if nobody has published it; as [`Process::with_jobs`].
pub fn look_up(process: &Process, service: &str) -> Result<String> {
    let ticket = process.with_jobs(|jobs| jobs.look_up_service(service))?;
    let port = process.outcome(ticket, Kind::Name)?;
    Ok(String::from_utf8_lossy(&port).into_owned())
}

/// `MPI_Unpublish_name`.
///
/// # Errors
/// `Service` if it is not published with that port; as [`Process::with_jobs`].
pub fn withdraw(process: &Process, service: &str, port: &str) -> Result<()> {
    let ticket = process.with_jobs(|jobs| jobs.withdraw_service(service, port))?;
    process.outcome(ticket, Kind::Service).map(drop)
}
