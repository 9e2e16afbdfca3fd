//! Native heap profiles whose size varies: heaptrack, gperftools, DHAT, massif.

/// A stack in which each node is below the one before, with an allocation in each.
pub(super) fn deep_trace(size: usize) -> Vec<u8> {
    let node = |node| format!("t 1 {node:x}\na 1 {:x}\n+ {node:x}\n", node + 1);
    let nodes: String = (0..size).map(node).collect();
    format!("v 10400 3\nX a\ns 1 f\ni 1 1 1\n{nodes}").into_bytes()
}

/// An instruction with many inlined functions, called from as many others.
pub(super) fn inlined(size: usize) -> Vec<u8> {
    let frames = " 1 1 1".repeat(size);
    let callers: String =
        (0..size).map(|at| format!("i {at:x} 1 1 1 {at:x}\nt {:x} 0\n", at + 2)).collect();
    let nodes: String = (0..size).map(|node| format!("t 1 {:x}\n", node + 1)).collect();
    format!("v 10400 3\nX a\ns 1 f\ni 1 1{frames}\n{callers}{nodes}a 1 {size:x}\n+ 0\n")
        .into_bytes()
}

/// Every allocation is a new peak of as many kinds.
pub(super) fn many_peaks(size: usize) -> Vec<u8> {
    let kinds: String = (0..size).map(|kind| format!("a {kind:x} 1\n+ {kind:x}\n")).collect();
    format!("v 10400 3\nX a\ns 1 f\ni 1 1 1\nt 1 0\n{kinds}").into_bytes()
}

pub(super) fn deep_stack(size: usize) -> Vec<u8> {
    let addresses: String = (0..size).map(|address| format!(" 0x{address:x}")).collect();
    format!("heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @{addresses}\n").into_bytes()
}

/// Mappings that overlap, and an address in each.
pub(super) fn many_maps(size: usize) -> Vec<u8> {
    let stack = |at| format!("1: 8 [1: 8] @ 0x{at:x}\n");
    let map = |at| format!("{at:x}-ffffff r-xp 0 00:00 0 /lib/{at}\n");
    let (stacks, maps): (String, String) =
        ((0..size).map(stack).collect(), (0..size).map(map).collect());
    format!("heap profile: 1: 8 [1: 8] @ heapprofile\n{stacks}\nMAPPED_LIBRARIES:\n{maps}")
        .into_bytes()
}

pub(super) fn deep_point(size: usize) -> Vec<u8> {
    let frames = vec!["1"; size].join(",");
    format!(
        r#"{{"dhatFileVersion":2,"mode":"heap","bklt":true,"tu":"i","pps":[{{"tb":1,"tbk":1,"fs":[{frames}]}}],"ftbl":["[root]","0x1: f (a.c:1)"]}}"#
    )
    .into_bytes()
}

/// Functions that all call each other: `size` calls.
pub(super) fn circle(size: usize) -> Vec<u8> {
    let size = size.isqrt();
    let calls =
        |at: usize| (0..size).map(move |to| format!("cfn=({to}) f{to}\ncalls=1 1\n{at} 9\n"));
    let functions: String = (0..size)
        .map(|at| format!("fn=({at}) f{at}\n1 1\n{}", calls(at).collect::<String>()))
        .collect();
    format!("version: 1\nevents: Ir\n{functions}").into_bytes()
}

/// Functions of which each calls the next one twice.
pub(super) fn chain_of_calls(size: usize) -> Vec<u8> {
    let function = |at: usize| {
        let next = at + 1;
        let call = |line| format!("cfn=({next}) f{next}\ncalls=1 1\n{line} {}\n", size - at);
        format!("fn=({at}) f{at}\n1 1\n{}{}", call(2), call(3))
    };
    let functions: String = (0..size).map(function).collect();
    format!("version: 1\nevents: Ir\n{functions}").into_bytes()
}

/// A tree of one node in another, each with a byte of its own. Each line is indented by its depth,
/// so that a file of `size` bytes is as deep as the root of twice that.
pub(super) fn deep_tree(size: usize) -> Vec<u8> {
    let deepest = (2 * size).isqrt();
    let node = |depth| format!("{}n1: {} 0x1: f (a.c:1)\n", " ".repeat(depth), deepest - depth);
    let nodes: String = (0..deepest).map(node).collect();
    format!("desc: \ncmd: a\ntime_unit: i\nsnapshot=0\ntime=1\nmem_heap_B={deepest}\nheap_tree=peak\n{nodes}")
        .into_bytes()
}

/// Statistics of cProfile with so many functions, which refer to one long name.
pub fn long_name_of_cprofile(functions: usize) -> Vec<u8> {
    let integer = |value: usize| [&b"i"[..], &(value as u32).to_le_bytes()].concat();
    let name = "f".repeat(50 * functions);
    // The first tuple has the name, which the others refer to as the first object with a number.
    let long = [&b"\xf5"[..], &(name.len() as u32).to_le_bytes(), name.as_bytes()].concat();
    let mut file = b"{".to_vec();
    for line in 0..functions {
        let name = if line == 0 { long.clone() } else { b"r\0\0\0\0".to_vec() };
        file.extend([&b")\x03z\x01a"[..], &integer(line), &name, b")\x05"].concat());
        file.extend([integer(1).repeat(4), b"{0".to_vec()].concat());
    }
    file.push(b'0');
    file
}

/// Statistics of cProfile with so many functions, each of which calls the one before.
pub fn many_functions(functions: usize) -> Vec<u8> {
    let text = |name: &str| [&[b'z', name.len() as u8], name.as_bytes()].concat();
    let integer = |value: usize| [&b"i"[..], &(value as u32).to_le_bytes()].concat();
    let function = |line| [b")\x03".to_vec(), text("a.py"), integer(line), text("f")].concat();
    let times = [&b"g"[..], &1e-6_f64.to_le_bytes()].concat().repeat(2);
    let mut file = b"{".to_vec();
    for line in 0..functions {
        file.extend(function(line + 1));
        file.extend(
            [b")\x05".to_vec(), integer(1).repeat(2), times.clone(), b"{".to_vec()].concat(),
        );
        file.extend(function(line));
        file.extend(
            [b")\x04".to_vec(), integer(1).repeat(2), times.clone(), b"0".to_vec()].concat(),
        );
    }
    file.push(b'0');
    file
}
