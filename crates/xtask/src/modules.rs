//! Which file of a crate uses items of which other one.
//!
//! A file uses another if code in it names something that the other defines:
//!
//! * Every path counts, in `use` declarations, signatures, bodies and the
//!   arguments of macros, whether it begins with `crate`, `super`, `self`, a
//!   module or an imported name.
//! * A path leads to the file that defines the item. A re-export is followed, so
//!   a parent that only declares its children and re-exports their items uses
//!   none of them, and a child that takes a sibling's item through the parent
//!   uses the sibling.
//! * A private `use` counts even if nothing else in the file names the item, as a
//!   trait may be imported for its methods. Naming a module counts only together
//!   with the item that is taken from it.
//! * Code that is compiled for tests alone does not count; nor do doc comments,
//!   attributes and the path in `pub(in path)`.
//! * Calls of methods and accesses of fields are not seen, as their type is not
//!   known here.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// For each file the files whose items it uses, and the names of these items; paths within the
/// crate.
pub type Uses = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// The files that use each other, of all roots of one crate.
///
/// # Errors
/// If a file is not Rust.
pub fn uses(sources: &[(PathBuf, String)]) -> Result<Uses, String> {
    let mut all = Uses::new();
    let roots = sources.iter().map(|(path, _)| path);
    for root in roots.filter(|path| is_root(path)) {
        let mut tree = Tree::new(sources);
        tree.load(root, None)?;
        for module in 0..tree.modules.len() {
            let user = all.entry(tree.modules[module].file.clone()).or_default();
            for (used, name) in tree.used_by(module) {
                user.entry(used).or_default().insert(name);
            }
        }
    }
    Ok(all)
}

/// Sets of several files of which each uses, directly or through others, every other one.
pub fn circles(uses: &Uses) -> Vec<BTreeSet<PathBuf>> {
    let reached: BTreeMap<_, _> = uses
        .keys()
        .map(|file| (file, reachable(uses, file)))
        .collect();
    let mut found = BTreeSet::new();
    for (file, others) in &reached {
        let back = |other: &&PathBuf| reached.get(*other).is_some_and(|o| o.contains(*file));
        let circle: BTreeSet<_> = others.iter().filter(back).cloned().collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// What `from` uses directly or through others; `from` itself only if it is in a circle.
fn reachable(uses: &Uses, from: &Path) -> BTreeSet<PathBuf> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(file) = next.pop() {
        for used in uses.get(file).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(used.clone()) {
                next.push(used);
            }
        }
    }
    seen
}

/// Whether the compiler begins at this file.
pub fn is_root(path: &Path) -> bool {
    path == Path::new("src/lib.rs")
        || path == Path::new("src/main.rs")
        || path.parent() == Some(Path::new("src/bin"))
}

/// Whether an attribute among these leaves the item to tests.
pub fn for_tests(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string();
            let words = || text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words().any(|w| w == "test") && !words().any(|w| w == "not")
        }
        _ => false,
    })
}

/// The attributes of an item.
pub fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item::*;
    match item {
        Const(i) => &i.attrs,
        Enum(i) => &i.attrs,
        ExternCrate(i) => &i.attrs,
        Fn(i) => &i.attrs,
        ForeignMod(i) => &i.attrs,
        Impl(i) => &i.attrs,
        Macro(i) => &i.attrs,
        Mod(i) => &i.attrs,
        Static(i) => &i.attrs,
        Struct(i) => &i.attrs,
        Trait(i) => &i.attrs,
        TraitAlias(i) => &i.attrs,
        Type(i) => &i.attrs,
        Union(i) => &i.attrs,
        Use(i) => &i.attrs,
        _ => &[],
    }
}

/// The file of `mod name;` in a module whose children lie in `folder`.
pub fn file_of(
    module: &syn::ItemMod,
    folder: &Path,
    sources: &[(PathBuf, String)],
) -> Option<PathBuf> {
    let name = module.ident.to_string();
    let given = module.attrs.iter().find_map(|attr| match &attr.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let candidates = match given {
        Some(path) => vec![folder.join(path)],
        None => vec![
            folder.join(format!("{name}.rs")),
            folder.join(&name).join("mod.rs"),
        ],
    };
    let exists = |path: &PathBuf| sources.iter().any(|(p, _)| p == path);
    candidates.into_iter().find(exists)
}

/// Where the children of the module in this file lie.
pub fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(file);
    match file.file_stem().and_then(|s| s.to_str()) {
        Some(name) if name != "mod" && !is_root(file) => folder.join(name),
        _ => folder.to_path_buf(),
    }
}

/// A name that a `use` declaration brings into its module.
#[derive(Clone, Debug)]
struct Import {
    path: Vec<String>,
    /// `*` for all names.
    name: String,
    /// Whether other modules may take the name from here.
    passed_on: bool,
}

/// One module: a file, or a part of one.
#[derive(Debug)]
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: HashMap<String, usize>,
    /// Names of what it defines.
    defines: HashSet<String>,
    imports: Vec<Import>,
    /// The paths that its code names.
    paths: Vec<Vec<String>>,
    /// Macros that its code calls by a bare name.
    calls: Vec<String>,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Module(usize),
    /// Something that this module defines.
    Item(usize),
}

/// The modules below one root.
struct Tree<'a> {
    sources: &'a [(PathBuf, String)],
    modules: Vec<Module>,
    /// The module that defines a `macro_rules!` macro.
    macros: HashMap<String, usize>,
}

impl<'a> Tree<'a> {
    fn new(sources: &'a [(PathBuf, String)]) -> Tree<'a> {
        Tree {
            sources,
            modules: Vec::new(),
            macros: HashMap::new(),
        }
    }

    /// Reads a file and all modules below it.
    fn load(&mut self, file: &Path, parent: Option<usize>) -> Result<usize, String> {
        let text = self.sources.iter().find(|(path, _)| path == file);
        let text = text.map_or("", |(_, text)| text);
        let parsed = syn::parse_file(text).map_err(|e| format!("{}: {e}", file.display()))?;
        if for_tests(&parsed.attrs) {
            return self.add(file, parent, &[], &folder_of(file));
        }
        self.add(file, parent, &parsed.items, &folder_of(file))
    }

    fn add(
        &mut self,
        file: &Path,
        parent: Option<usize>,
        items: &[syn::Item],
        folder: &Path,
    ) -> Result<usize, String> {
        let id = self.modules.len();
        self.modules.push(Module {
            file: file.to_path_buf(),
            parent,
            children: HashMap::new(),
            defines: HashSet::new(),
            imports: Vec::new(),
            paths: Vec::new(),
            calls: Vec::new(),
        });
        for item in items.iter().filter(|item| !for_tests(attributes(item))) {
            if let syn::Item::Mod(module) = item {
                let name = module.ident.to_string();
                let child = match &module.content {
                    Some((_, items)) => {
                        Some(self.add(file, Some(id), items, &folder.join(&name))?)
                    }
                    None => match file_of(module, folder, self.sources) {
                        Some(path) => Some(self.load(&path, Some(id))?),
                        None => None,
                    },
                };
                if let Some(child) = child {
                    self.modules[id].children.insert(name, child);
                }
                continue;
            }
            if let syn::Item::Macro(syn::ItemMacro {
                ident: Some(name), ..
            }) = item
            {
                self.macros.insert(name.to_string(), id);
            }
            let module = &mut self.modules[id];
            module.defines.extend(defined(item));
            Reader { module }.visit_item(item);
        }
        Ok(id)
    }

    /// The files that define what a module names, without its own, each with a name.
    fn used_by(&self, id: usize) -> Vec<(PathBuf, String)> {
        let module = &self.modules[id];
        let private = module
            .imports
            .iter()
            .filter(|i| !i.passed_on && i.name != "*");
        let paths = module.paths.iter().chain(private.map(|i| &i.path));
        let items = paths.filter_map(|path| match self.resolve(id, path, &mut HashSet::new())? {
            Target::Item(owner) => Some((owner, path.join("::"))),
            Target::Module(_) => None,
        });
        let unresolved = |name: &&String| self.look_up(id, name, &mut HashSet::new()).is_none();
        let calls = module.calls.iter().filter(unresolved);
        let macros = calls.filter_map(|name| Some((*self.macros.get(name)?, name.clone())));
        let files = items
            .chain(macros)
            .map(|(owner, name)| (self.modules[owner].file.clone(), name));
        files.filter(|(file, _)| *file != module.file).collect()
    }

    /// What a path that stands in a module leads to; `None` if it leads out of the crate.
    fn resolve(
        &self,
        from: usize,
        path: &[String],
        seen: &mut HashSet<(usize, String)>,
    ) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Target::Module(0),
            "self" => Target::Module(from),
            "super" => Target::Module(self.modules[from].parent?),
            name => self.look_up(from, name, seen)?,
        };
        for name in rest {
            let Target::Module(module) = at else { break };
            at = match name.as_str() {
                "self" => at,
                "super" => Target::Module(self.modules[module].parent?),
                name => match self.look_up(module, name, seen) {
                    Some(target) => target,
                    // A name that is imported from elsewhere is another crate's; one
                    // that is not found at all is made by a macro.
                    None if self.modules[module].imports.iter().any(|i| i.name == name) => {
                        return None;
                    }
                    None => Target::Item(self.macros.get(name).copied().unwrap_or(module)),
                },
            };
        }
        Some(at)
    }

    fn look_up(
        &self,
        id: usize,
        name: &str,
        seen: &mut HashSet<(usize, String)>,
    ) -> Option<Target> {
        let module = &self.modules[id];
        if let Some(child) = module.children.get(name) {
            return Some(Target::Module(*child));
        }
        if module.defines.contains(name) {
            return Some(Target::Item(id));
        }
        if !seen.insert((id, name.to_string())) {
            return None;
        }
        let named = module.imports.iter().filter(|i| i.name == name);
        if let Some(found) = named
            .into_iter()
            .find_map(|i| self.resolve(id, &i.path, &mut seen.clone()))
        {
            return Some(found);
        }
        let all = module.imports.iter().filter(|i| i.name == "*");
        all.into_iter().find_map(|import| {
            match self.resolve(id, &import.path, &mut seen.clone())? {
                Target::Module(from) if from != id => self.look_up(from, name, seen),
                _ => None,
            }
        })
    }
}

/// The names that an item defines in its module.
fn defined(item: &syn::Item) -> Vec<String> {
    use syn::Item::*;
    let name = match item {
        Const(i) => &i.ident,
        Enum(i) => &i.ident,
        Fn(i) => &i.sig.ident,
        Static(i) => &i.ident,
        Struct(i) => &i.ident,
        Trait(i) => &i.ident,
        Type(i) => &i.ident,
        Union(i) => &i.ident,
        Macro(i) => match &i.ident {
            Some(name) => name,
            None => return defined_by_macro(&i.mac.tokens),
        },
        _ => return Vec::new(),
    };
    vec![name.to_string()]
}

/// The names after a keyword that defines one, in the arguments of a macro.
fn defined_by_macro(tokens: &TokenStream) -> Vec<String> {
    const KEYWORDS: [&str; 7] = ["const", "enum", "fn", "static", "struct", "trait", "type"];
    let words: Vec<_> = tokens.clone().into_iter().map(|t| t.to_string()).collect();
    let pairs = words
        .windows(2)
        .filter(|w| KEYWORDS.contains(&w[0].as_str()));
    pairs.map(|w| w[1].clone()).collect()
}

/// Collects what the items of one module import and name.
struct Reader<'a> {
    module: &'a mut Module,
}

impl Reader<'_> {
    fn import(&mut self, tree: &syn::UseTree, before: &[String], passed_on: bool) {
        let mut path = before.to_vec();
        let name = match tree {
            syn::UseTree::Path(part) => {
                path.push(part.ident.to_string());
                return self.import(&part.tree, &path, passed_on);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before, passed_on);
                }
                return;
            }
            syn::UseTree::Name(last) if last.ident == "self" => path.last().cloned(),
            syn::UseTree::Name(last) => {
                path.push(last.ident.to_string());
                Some(last.ident.to_string())
            }
            syn::UseTree::Rename(last) => {
                path.push(last.ident.to_string());
                Some(last.rename.to_string())
            }
            syn::UseTree::Glob(_) => Some("*".to_string()),
        };
        if let Some(name) = name {
            self.module.imports.push(Import {
                path,
                name,
                passed_on,
            });
        }
    }

    /// Finds the paths in the arguments or the body of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut after_dot = false;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons < 2 {
                        self.keep(&mut path);
                    }
                    if !after_dot {
                        path.push(name.to_string());
                    }
                    (colons, after_dot) = (0, false);
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                other => {
                    self.keep(&mut path);
                    after_dot = matches!(&other, TokenTree::Punct(p) if p.as_char() == '.');
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.keep(&mut path);
    }

    fn keep(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.module.paths.push(std::mem::take(path));
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let passed_on = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, &[], passed_on);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|s| s.ident.to_string());
            self.module.paths.push(names.collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Some(name) = call.path.get_ident() {
            self.module.calls.push(name.to_string());
        }
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles of a crate with these files, as text.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> = files
            .iter()
            .map(|(path, text)| (Path::new("src").join(path), text.to_string()))
            .collect();
        let circles = circles(&uses(&sources).unwrap());
        let names = |c: &BTreeSet<PathBuf>| {
            let names = c
                .iter()
                .map(|p| p.strip_prefix("src").unwrap().display().to_string());
            names.collect::<Vec<_>>().join(" ")
        };
        circles.iter().map(names).collect()
    }

    #[test]
    fn two_files_that_name_each_other_are_a_circle() {
        let root = ("lib.rs", "mod a; mod b; mod c;");
        let a = ("a.rs", "use crate::b::B; pub struct A; pub fn f(_: B) {}");
        for (uses_a, b) in [
            (true, "use crate::a::A; pub struct B; fn g(_: A) {}"),
            (true, "pub struct B; fn g() { super::a::f(B) }"),
            (true, "use super::a; pub struct B; fn g() { a::f(B) }"),
            (true, "use crate::a::*; pub struct B; fn g() { f(B) }"),
            (
                true,
                "pub struct B; fn g() { assert!(crate::a::f(B) == ()); }",
            ),
            (true, "pub struct B; fn g() { use crate::a::{A as Other}; }"),
            (true, "pub struct B; mod inner { use super::super::a::A; }"),
            (
                true,
                "pub struct B; macro_rules! m { () => { $crate::a::f(B) } }",
            ),
            (
                false,
                "pub struct B; fn a() { let a = 1; std::mem::drop(a); }",
            ),
            (
                false,
                "/// [`crate::a::A`]
pub struct B;",
            ),
            (
                false,
                "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }",
            ),
            (
                false,
                "pub struct B; #[cfg(test)] fn g() { crate::a::f(B) }",
            ),
            (false, "pub(in crate::a) struct B;"),
            (false, "use crate::c::C; pub struct B;"),
        ] {
            let circles = found(&[root, a, ("b.rs", b), ("c.rs", "pub struct C;")]);
            assert_eq!(
                circles,
                if uses_a { vec!["a.rs b.rs"] } else { vec![] },
                "{b}"
            );
        }
    }

    #[test]
    fn a_parent_that_only_passes_on_is_in_no_circle() {
        let child = (
            "p/child.rs",
            "use crate::p::Other; pub struct Child(Other);",
        );
        let other = ("p/other.rs", "pub struct Other;");
        let root = ("lib.rs", "mod p;");
        let parent = "mod child; mod other; pub use child::Child; pub use other::*;";
        assert!(found(&[root, child, other, ("p/mod.rs", parent)]).is_empty());
        // The child uses what a sibling defines, though it names the parent.
        let other = (
            "p/other.rs",
            "use super::Child; pub struct Other(Box<Child>);",
        );
        let circles = found(&[root, child, other, ("p/mod.rs", parent)]);
        assert_eq!(circles, ["p/child.rs p/other.rs"]);
    }

    #[test]
    fn a_parent_and_its_child_may_be_a_circle() {
        let child = ("p/child.rs", "use super::Shared; pub fn f(_: Shared) {}");
        let parent = (
            "p.rs",
            "mod child; pub struct Shared; fn g() { child::f(Shared) }",
        );
        assert_eq!(
            found(&[("lib.rs", "mod p;"), parent, child]),
            ["p/child.rs p.rs"]
        );
        let parent = ("p.rs", "mod child; pub struct Shared;");
        assert!(found(&[("lib.rs", "mod p;"), parent, child]).is_empty());
    }

    #[test]
    fn macros_belong_to_the_file_that_defines_them() {
        let root = ("lib.rs", "#[macro_use] mod m; mod a;");
        let m = (
            "m.rs",
            "macro_rules! twice { ($x:expr) => { $x } } use crate::a::f;",
        );
        let a = ("a.rs", "pub fn f() { twice!(1) }");
        assert_eq!(found(&[root, m, a]), ["a.rs m.rs"]);
        // What a macro defines counts for the module in which it is called.
        let root = ("lib.rs", "mod a; mod b;");
        let a = ("a.rs", "made! { pub static X: u8 = 1; } use crate::b::f;");
        let b = ("b.rs", "use crate::a::X; pub fn f() {}");
        assert_eq!(found(&[root, a, b]), ["a.rs b.rs"]);
    }

    #[test]
    fn what_another_crate_defines_is_no_use() {
        let root = ("lib.rs", "mod a; mod b; pub use a::Map;");
        let a = (
            "a.rs",
            "pub use std::collections::HashMap as Map; use crate::b::f;",
        );
        let b = (
            "b.rs",
            "use crate::Map; pub fn f() -> Map<u8, u8> { Map::new() }",
        );
        assert!(found(&[root, a, b]).is_empty());
    }

    #[test]
    fn circles_may_be_long_and_there_may_be_several() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "use crate::{a::A, d::D}; pub struct C;"),
            ("d.rs", "use crate::e::E; pub struct D;"),
            ("e.rs", "use crate::d::D; pub struct E;"),
        ];
        assert_eq!(found(&files), ["a.rs b.rs c.rs", "d.rs e.rs"]);
    }
}
