//! Which rank is on which node: the value of `PMI_process_mapping`.
//!
//! `(vector,(first,nodes,each),…)`: on `nodes` nodes from number `first` on,
//! `each` ranks. The blocks are used again from the first one when they are at
//! an end.

/// Node of each of `size` ranks; `None` if the text does not tell.
pub(super) fn nodes(text: &str, size: u32) -> Option<Vec<u32>> {
    let inner = text.trim().strip_prefix("(vector")?.strip_suffix(')')?;
    let mut blocks = Vec::new();
    for block in inner.split('(').skip(1) {
        let block = block.trim_end_matches([',', ' ']).strip_suffix(')')?;
        let mut numbers = block.split(',').map(|n| n.trim().parse::<u32>());
        let mut next = || numbers.next()?.ok();
        let (first, count, each) = (next()?, next()?, next()?);
        if numbers.next().is_some() || count == 0 || each == 0 {
            return None;
        }
        first.checked_add(count)?;
        blocks.push((first, count, each));
    }
    if blocks.is_empty() {
        return None;
    }
    let ranks = blocks.iter().cycle().flat_map(|&(first, count, each)| {
        (first..first + count).flat_map(move |node| std::iter::repeat_n(node, each as usize))
    });
    Some(ranks.take(size as usize).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mappings_are_read() {
        for (text, size, expected) in [
            ("(vector,(0,1,4))", 4, Some(vec![0; 4])),
            ("(vector,(0,2,2))", 4, Some(vec![0, 0, 1, 1])),
            ("(vector,(0,2,1))", 5, Some(vec![0, 1, 0, 1, 0])),
            ("(vector,(0,1,2),(1,1,1))", 3, Some(vec![0, 0, 1])),
            ("(vector, (3, 1, 1), (0, 1, 2))", 3, Some(vec![3, 0, 0])),
            ("(vector,(0,1,0))", 1, None),
            ("(vector,(4294967295,1,1))", 1, None),
            ("(vector)", 1, None),
            ("(vector,(0,1,1)", 1, None),
            ("(vector,(0,1))", 1, None),
            ("(blocks,(0,1,1))", 1, None),
            ("", 1, None),
        ] {
            assert_eq!(nodes(text, size), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn there_is_a_node_for_each_rank(text in "\\(vector(,\\([0-9]{1,3},[0-9]{1,2},[0-9]\\)){1,4}\\)", size in 1u32..100) {
            if let Some(nodes) = nodes(&text, size) {
                prop_assert_eq!(nodes.len(), size as usize);
            }
        }

        #[test]
        fn garbage_never_panics(text in "\\(?vector[(),0-9 x]{0,40}") {
            let _ = nodes(&text, 7);
        }
    }
}
