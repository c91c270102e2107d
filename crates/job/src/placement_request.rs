//! How the user wants ranks placed and bound.

use catena_boot::wire::{Malformed, Reader, Writer};
use catena_topo::{Cpus, Machine, Policy};

/// What the user wishes. Texts are empty if nothing was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacementRequest {
    /// The values of `--map-by`, as [`PlacementRequest::add_map_by`] puts them together.
    pub map_by: String,
    /// The value of `--rank-by`.
    pub rank_by: String,
    /// The value of `--bind-to`.
    pub bind_to: String,
    /// Ranks may use these CPUs of each node, and no others.
    pub cpu_set: String,
    /// The value of `CATENA_CPU_MAPPING`.
    pub cpu_mapping: String,
    /// What is to be shown.
    pub show: Show,
}

/// What `--display` shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Show {
    /// Nothing.
    #[default]
    Nothing,
    /// Where the ranks run.
    Map,
    /// Also what they are bound to.
    Bindings,
}

impl PlacementRequest {
    /// Takes in one more value of `--map-by`. One that begins with a colon is added to what was
    /// said; another one takes the place of what was, but for what was added before anything else
    /// was said.
    pub fn add_map_by(&mut self, value: &str) {
        match value.starts_with(':') {
            true => self.map_by += value,
            false if self.map_by.starts_with(':') => self.map_by.insert_str(0, value),
            false => self.map_by = value.to_string(),
        }
    }

    /// The mapping, order and binding.
    ///
    /// # Errors
    /// The option that is wrong, and why.
    pub fn policy(&self) -> Result<Policy, String> {
        type Take = fn(&mut Policy, &str) -> Result<(), String>;
        let mut policy = Policy::default();
        for (option, value, take) in [
            ("--bind-to", &self.bind_to, Policy::bind_to as Take),
            ("--map-by", &self.map_by, Policy::map_by),
            ("--rank-by", &self.rank_by, Policy::rank_by),
        ] {
            if !value.is_empty() {
                let taken = take(&mut policy, value);
                taken.map_err(|why| format!("{option} {value}: {why}"))?;
            }
        }
        Ok(policy)
    }

    /// The part of a machine that the ranks may use.
    ///
    /// # Errors
    /// If there is none, or the set cannot be read.
    pub fn usable(&self, machine: Machine) -> Result<Machine, String> {
        if self.cpu_set.is_empty() {
            return Ok(machine);
        }
        let wrong = |why: String| format!("--cpu-set {}: {why}", self.cpu_set);
        let cpus = Cpus::parse(&self.cpu_set)
            .ok_or_else(|| wrong("write a list of CPUs such as 0-3,8".to_string()))?;
        let there = machine.cpus();
        match cpus.is_empty() || !cpus.is_subset(&there) {
            true => Err(wrong(format!(
                "there {} only {} {there}",
                if there.len() == 1 { "is" } else { "are" },
                if there.len() == 1 { "CPU" } else { "CPUs" },
            ))),
            false => Ok(machine.restricted(&cpus)),
        }
    }

    /// As [`PlacementRequest::read`] reads it.
    pub fn write(&self, w: &mut Writer) {
        let PlacementRequest {
            map_by,
            rank_by,
            bind_to,
            cpu_set,
            cpu_mapping,
            show,
        } = self;
        for text in [map_by, rank_by, bind_to, cpu_set, cpu_mapping] {
            w.bytes(text.as_bytes());
        }
        w.u32(*show as u32);
    }

    /// Reads what [`PlacementRequest::write`] wrote.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read(r: &mut Reader<'_>) -> Result<PlacementRequest, Malformed> {
        Ok(PlacementRequest {
            map_by: r.text()?,
            rank_by: r.text()?,
            bind_to: r.text()?,
            cpu_set: r.text()?,
            cpu_mapping: r.text()?,
            show: match r.u32()? {
                0 => Show::Nothing,
                1 => Show::Map,
                _ => Show::Bindings,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_survive_the_journey() {
        let placement = PlacementRequest {
            map_by: "numa".to_string(),
            cpu_set: "0-1".to_string(),
            show: Show::Map,
            ..PlacementRequest::default()
        };
        let mut w = Writer::new(1u8);
        placement.write(&mut w);
        assert_eq!(
            PlacementRequest::read(&mut Reader::new(&w.into_body())),
            Ok(placement)
        );
    }
}
