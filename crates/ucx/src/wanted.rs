//! Which of UCX's transports and devices are used.

use std::ffi::{CStr, CString};

/// Segments of TCP: the longest packet with all headers.
const SEGMENT: &str = "68k";

/// How often a host is called again that could not be reached over TCP: nothing else
/// goes on meanwhile in UCX 1.13, and its 25 times take minutes.
const AGAIN: &str = "2";

/// Where Linux shows what UCX drives besides TCP.
const DEVICES: &str = "/sys/class/infiniband";

/// What the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Names of transports as in `UCX_TLS`, for example `tcp` or `posix,cma`.
    /// Without any it is what `UCX_TLS` says, or all.
    pub transports: Option<String>,
    /// Names of devices as in `UCX_NET_DEVICES`, for example `eth0` or
    /// `mlx5_0:1`.
    pub devices: Option<String>,
}

impl Wanted {
    /// As in `CATENA_LINK`.
    pub fn show(&self) -> String {
        let parts = ["ucx"].into_iter();
        let parts = parts.chain(self.transports.as_deref());
        parts
            .chain(self.devices.as_deref())
            .collect::<Vec<_>>()
            .join(":")
    }

    /// Whether there is nothing faster than TCP between hosts.
    pub(crate) fn is_plain(&self) -> bool {
        std::fs::read_dir(DEVICES).map_or(true, |mut all| all.next().is_none())
    }

    /// The longest frame that UCX is sure to send in one piece, bytes: a segment of TCP, if that
    /// alone was asked for, or what every transport carries.
    pub(crate) fn whole_frame(&self) -> usize {
        match self.transports.as_deref() {
            Some("tcp") => 66 << 10,
            _ => 3 << 10,
        }
    }

    /// Whether a device of that name may be used.
    pub(crate) fn may_use(&self, device: &str) -> bool {
        let said = std::env::var("UCX_NET_DEVICES").ok();
        let said = self.devices.clone().or(said.filter(|all| all != "all"));
        said.is_none_or(|all| all.split(',').any(|one| one == device))
    }

    /// What was asked for as UCX's own settings, without `UCX_`; others stay as the user
    /// has them. Unless the user has said otherwise UCX keeps its messages to
    /// itself, its shared memory notices the loss of a peer too, its TCP sends
    /// the longest packet in one piece and soon gives up a host that is gone, and
    /// what is sent is copied: over TCP that is faster, and zero-copy sends to a
    /// peer that dies abort the program in UCX 1.13. Where there is no InfiniBand
    /// UCX asks nobody whether he lives: the kernel does (`UCX_TCP_KEEPIDLE`, after
    /// 28 s without a setting), but only while nothing is under way.
    ///
    /// Versions before 1.17 know the settings of a transport without its name in front, and later
    /// ones with it; those refuse the others.
    pub(crate) fn settings(&self, version: (u32, u32)) -> Vec<(&'static CStr, CString)> {
        let unless = |variable: &str, value: &str| {
            let free = std::env::var_os(variable).is_none();
            free.then(|| value.to_string())
        };
        let again = unless("UCX_TCP_MAX_CONN_RETRIES", AGAIN);
        let plain = self.is_plain();
        let asking = plain.then(|| unless("UCX_KEEPALIVE_INTERVAL", "inf"));
        let [sends, receives] = match version < (1, 17) {
            true => [c"TX_SEG_SIZE", c"RX_SEG_SIZE"],
            false => [c"TCP_TX_SEG_SIZE", c"TCP_RX_SEG_SIZE"],
        };
        let named = [
            (c"TLS", self.transports.clone()),
            (c"NET_DEVICES", self.devices.clone()),
            (sends, unless("UCX_TCP_TX_SEG_SIZE", SEGMENT)),
            (receives, unless("UCX_TCP_RX_SEG_SIZE", SEGMENT)),
            (c"ZCOPY_THRESH", unless("UCX_ZCOPY_THRESH", "inf")),
            (c"TCP_MAX_CONN_RETRIES", again),
            (c"KEEPALIVE_INTERVAL", asking.flatten()),
            (c"LOG_LEVEL", unless("UCX_LOG_LEVEL", "fatal")),
            (c"MM_ERROR_HANDLING", unless("UCX_MM_ERROR_HANDLING", "y")),
        ];
        let given = |(name, value): (&'static CStr, Option<String>)| {
            let value = CString::new(value?).ok()?;
            Some((name, value))
        };
        named.into_iter().filter_map(given).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_become_settings_of_ucx() {
        let wanted = Wanted {
            transports: Some("rc,tcp".to_string()),
            devices: Some("mlx5_0:1".to_string()),
        };
        assert_eq!(wanted.show(), "ucx:rc,tcp:mlx5_0:1");
        let settings = wanted.settings((1, 13));
        assert!(settings.contains(&(c"TLS", c"rc,tcp".to_owned())));
        assert!(settings.contains(&(c"NET_DEVICES", c"mlx5_0:1".to_owned())));
        assert!(wanted.may_use("mlx5_0:1") && !wanted.may_use("eth0"));
        let later = wanted.settings((1, 17));
        for (name, here, not_here) in [
            (c"TX_SEG_SIZE", &settings, &later),
            (c"TCP_RX_SEG_SIZE", &later, &settings),
        ] {
            assert!(here.contains(&(name, c"68k".to_owned())));
            assert!(not_here.iter().all(|it| it.0 != name));
        }
        let none = Wanted::default();
        assert_eq!(none.show(), "ucx");
        let named = [c"TLS", c"NET_DEVICES"];
        assert!(
            none.settings((1, 17))
                .iter()
                .all(|it| !named.contains(&it.0))
        );
    }
}
