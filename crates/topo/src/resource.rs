//! Kinds of hardware resource.

/// Kinds of hardware resource, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Resource {
    Machine,
    Package,
    NumaNode,
    L3Cache,
    L2Cache,
    L1Cache,
    Core,
    /// A hardware thread: what Linux calls a CPU.
    Pu,
}

impl Resource {
    /// All of them, the largest first.
    pub const ALL: [Resource; 8] = [
        Resource::Machine,
        Resource::Package,
        Resource::NumaNode,
        Resource::L3Cache,
        Resource::L2Cache,
        Resource::L1Cache,
        Resource::Core,
        Resource::Pu,
    ];

    /// Its name as a URI. The names are those of hwloc, which people know.
    pub const fn uri(self) -> &'static str {
        match self {
            Resource::Machine => "hwloc://Machine",
            Resource::Package => "hwloc://Package",
            Resource::NumaNode => "hwloc://NUMANode",
            Resource::L3Cache => "hwloc://L3Cache",
            Resource::L2Cache => "hwloc://L2Cache",
            Resource::L1Cache => "hwloc://L1Cache",
            Resource::Core => "hwloc://Core",
            Resource::Pu => "hwloc://PU",
        }
    }

    /// Its name without scheme.
    pub fn name(self) -> &'static str {
        &self.uri()["hwloc://".len()..]
    }

    /// The resource of that name, with or without its scheme, in any case.
    pub fn named(name: &str) -> Option<Resource> {
        let known = |r: &Resource| {
            r.uri().eq_ignore_ascii_case(name) || r.name().eq_ignore_ascii_case(name)
        };
        Resource::ALL.into_iter().find(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_with_and_without_scheme() {
        assert_eq!(
            Resource::named("hwloc://NUMANode"),
            Some(Resource::NumaNode)
        );
        assert_eq!(Resource::named("core"), Some(Resource::Core));
        assert_eq!(Resource::named("other://core"), None);
        assert_eq!(Resource::named(""), None);
        for resource in Resource::ALL {
            assert_eq!(Resource::named(resource.uri()), Some(resource));
        }
    }
}
