//! What is measured side by side: every library with every link, setting, variable and version.

use std::collections::BTreeSet;
use std::path::Path;

use catena_settings::{PREFIX, Registry};

use crate::args::Request;
use crate::commits;
use crate::library::{self, Home};
use crate::raw::Variant;

/// All variants of a request, the first of each list in the first one; and what could not be had,
/// in words.
///
/// # Errors
/// In words, if settings are wrong or no variant is left.
pub fn variants(
    request: &Request,
    home: &Home,
    registry: &Registry,
) -> Result<(Vec<Variant>, Vec<String>), String> {
    let (mut found, missing) = libraries(request, home)?;
    own_environment(request, &mut found)?;
    if let (true, [why, ..]) = (found.is_empty(), &missing[..]) {
        return Err(why.clone());
    }
    let several = found.len() > 1;
    for (axis, (name, values)) in axes(request, registry)?.into_iter().enumerate() {
        found = found
            .iter()
            .flat_map(|variant| values.iter().map(move |value| (variant, value)))
            .map(|(variant, value)| {
                let mut variant = variant.clone();
                variant.env.insert(name.clone(), value.clone());
                library::hand_on(&mut variant, &name);
                // What all have alike need not be in their names.
                if values.len() > 1 {
                    let value = if value.is_empty() { "\"\"" } else { value };
                    variant.name = match several || axis > 0 {
                        true => format!("{} {value}", variant.name),
                        false => value.to_string(),
                    };
                }
                variant
            })
            .collect();
    }
    for variant in &mut found {
        if !request.launcher.is_empty() {
            variant.launcher.clone_from(&request.launcher);
        }
        if let Some(hosts) = &request.hosts {
            library::on_hosts(variant, hosts, request.agent.as_deref())?;
        }
    }
    let names: BTreeSet<&str> = found.iter().map(|v| v.name.as_str()).collect();
    if names.len() < found.len() {
        return Err("two variants have the same name; name libraries apart: --lib a=X,b=Y".into());
    }
    Ok((found, missing))
}

/// The libraries that are asked for: NAME or NAME=PREFIX.
fn wanted(request: &Request) -> Vec<String> {
    match request.libs.is_empty() {
        true => vec!["catena".to_string()],
        false => request.libs.clone(),
    }
}

/// The libraries that are there, and why others are not.
fn libraries(request: &Request, home: &Home) -> Result<(Vec<Variant>, Vec<String>), String> {
    if !request.commits.is_empty() {
        if !request.libs.is_empty() {
            return Err("--commit builds Catena itself: leave --lib out".into());
        }
        let built = commits::build(Path::new("."), &request.commits, home)?;
        return Ok((built, Vec::new()));
    }
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for word in &wanted(request) {
        match library::find(word, home) {
            Ok(variant) => found.push(variant),
            Err(why) => missing.push(why),
        }
    }
    Ok((found, missing))
}

/// Gives the libraries that are there the variables that are theirs alone.
fn own_environment(request: &Request, found: &mut [Variant]) -> Result<(), String> {
    let asked = match request.commits.is_empty() {
        true => wanted(request),
        false => request.commits.clone(),
    };
    let name_of = |word: &String| word.split('=').next().unwrap_or_default().to_string();
    let names: Vec<String> = asked.iter().map(name_of).collect();
    for [lib, name, value] in &request.own_env {
        if !names.contains(lib) {
            let names = names.join(", ");
            return Err(format!(
                "--env {lib}:{name}: no library is called {lib}; there are {names}"
            ));
        }
        for variant in found.iter_mut().filter(|v| v.name == *lib) {
            variant.env.insert(name.clone(), value.clone());
            library::hand_on(variant, name);
        }
    }
    Ok(())
}

/// Environment variables, with the values of each.
fn axes(request: &Request, registry: &Registry) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut axes = Vec::new();
    if !request.links.is_empty() {
        axes.push((format!("{PREFIX}LINK"), request.links.clone()));
    }
    for (name, values) in &request.settings {
        let name = name.strip_prefix(PREFIX).unwrap_or(name).to_uppercase();
        if registry.find(&name).is_none() {
            let hint = match registry.nearest(&name) {
                Some(near) => format!("did you mean {near}?"),
                None => "`catena info --all` lists them; --env takes any variable".to_string(),
            };
            return Err(format!("--setting: Catena has no setting {name}; {hint}"));
        }
        axes.push((format!("{PREFIX}{name}"), values.clone()));
    }
    axes.extend(request.env.iter().cloned());
    Ok(axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Parsed, parse};

    #[test]
    fn a_library_has_variables_of_its_own() {
        let given = |env: &str| {
            let words = ["latency", "--lib", "a=/x,b=/y", "--env", env];
            let Ok(Parsed::Measure(request)) = parse(words.map(Into::into)) else {
                panic!("{env}");
            };
            let mut found = ["a", "b"].map(|name| Variant {
                name: name.into(),
                ..Variant::default()
            });
            own_environment(&request, &mut found).map(|()| found.map(|v| v.env))
        };
        let [a, b] = given("b:TLS=tcp,self").unwrap();
        assert!(a.is_empty());
        assert_eq!(b["TLS"], "tcp,self");
        let why = given("c:TLS=tcp").unwrap_err();
        assert!(why.contains("called c; there are a, b"), "{why}");
    }
}
