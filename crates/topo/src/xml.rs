//! What hwloc has told of a machine: the file that `lstopo out.xml` writes, of
//! hwloc 1 to 3.

use std::fmt;

use roxmltree::{Document, Node, ParsingOptions};

use crate::{Cpus, Machine, Nic, Resource};

/// A file does not describe a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlError(String);

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; write such a file with: lstopo out.xml", self.0)
    }
}

impl std::error::Error for XmlError {}

impl Machine {
    /// The machine that a file of hwloc describes, as far as programs may use
    /// it.
    ///
    /// # Errors
    /// [`XmlError`] says what is wrong with it.
    pub fn from_xml(text: &str) -> Result<Machine, XmlError> {
        let options = ParsingOptions {
            allow_dtd: true,
            ..ParsingOptions::default()
        };
        let document = Document::parse_with_options(text, options)
            .map_err(|error| XmlError(format!("this is no XML: {error}")))?;
        let root = document.root_element();
        if root.tag_name().name() != "topology" {
            return Err(XmlError(
                "this is XML, but no topology of hwloc".to_string(),
            ));
        }
        let mut instances = <[Vec<Cpus>; Resource::ALL.len()]>::default();
        let mut nics = Vec::new();
        let mut memories = Vec::new();
        let objects = root.descendants().filter(|n| n.has_tag_name("object"));
        for object in objects {
            if is_nic(object) {
                nics.push(Nic {
                    name: object.attribute("name").unwrap_or_default().to_string(),
                    cpus: object.ancestors().find_map(cpus).unwrap_or_default(),
                });
            }
            let (Some(resource), Some(cpus)) = (resource(object), cpus(object)) else {
                continue;
            };
            if resource == Resource::NumaNode {
                memories.push(cpus);
                continue;
            }
            let kind = &mut instances[resource as usize];
            if kind
                .iter()
                .any(|other| !other.intersection(&cpus).is_empty())
            {
                let name = resource.name();
                return Err(XmlError(format!("CPUs {cpus} are in two objects {name}")));
            }
            if !cpus.is_empty() {
                kind.push(cpus);
            }
        }
        instances[Resource::NumaNode as usize] = near_memories(memories)?;
        if instances[Resource::Pu as usize].is_empty() {
            return Err(XmlError("it has no processing unit (PU)".to_string()));
        }
        let machine = Machine::new(instances, nics);
        let allowed = root
            .descendants()
            .find_map(|object| Cpus::parse_mask(object.attribute("allowed_cpuset")?));
        let machine = match allowed {
            Some(allowed) => machine.restricted(&allowed),
            None => machine,
        };
        match machine.of(Resource::Pu) {
            [] => Err(XmlError(
                "its allowed_cpuset leaves none of its CPUs to programs".to_string(),
            )),
            _ => Ok(machine),
        }
    }
}

/// The NUMA nodes as places for processes: CPUs that have several nodes near them, as one of DRAM
/// and one of HBM, are one place. Of nodes inside of each other, as a package's DRAM and the HBM of
/// each of its parts, the inner ones count, and what they leave of the outer one is a place as
/// well.
fn near_memories(mut memories: Vec<Cpus>) -> Result<Vec<Cpus>, XmlError> {
    memories.retain(|cpus| !cpus.is_empty());
    memories.sort_by_key(Cpus::len);
    let mut places: Vec<Cpus> = Vec::new();
    for cpus in memories {
        let overlap = |place: &&Cpus| !place.intersection(&cpus).is_empty();
        let within: Vec<&Cpus> = places.iter().filter(overlap).collect();
        if within.iter().any(|place| !place.is_subset(&cpus)) {
            let name = Resource::NumaNode.name();
            return Err(XmlError(format!(
                "CPUs {cpus} are in an object {name} that has a part of another one"
            )));
        }
        let is_left = |cpu: &u32| !within.iter().any(|place| place.contains(*cpu));
        let rest: Cpus = cpus.iter().filter(is_left).collect();
        if !rest.is_empty() {
            places.push(rest);
        }
    }
    Ok(places)
}

fn cpus(object: Node<'_, '_>) -> Option<Cpus> {
    Cpus::parse_mask(object.attribute("cpuset")?)
}

fn resource(object: Node<'_, '_>) -> Option<Resource> {
    match object.attribute("type")? {
        "Socket" => Some(Resource::Package),
        // hwloc 1: with the level as an attribute. Kind 2 is for instructions.
        "Cache" if object.attribute("cache_type") != Some("2") => {
            Resource::named(&format!("L{}Cache", object.attribute("depth")?))
        }
        name => Resource::named(name),
    }
}

/// Whether it is a network card, Ethernet and its like or InfiniBand and its
/// like: kinds 2 and 3, from hwloc 3 on bits 4 and 5.
fn is_nic(object: Node<'_, '_>) -> bool {
    let kind = object.attribute("osdev_type").map(str::parse::<u64>);
    let version = object.document().root_element().attribute("version");
    match kind {
        Some(Ok(bits)) if version.is_some_and(|v| v.starts_with('3')) => bits & 0x30 != 0,
        Some(Ok(kind)) => kind == 2 || kind == 3,
        _ => false,
    }
}
