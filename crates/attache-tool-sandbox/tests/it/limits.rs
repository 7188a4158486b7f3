use std::time::{Duration, Instant};

use attache_tool_sandbox::{EgressOptions, Limits};

use crate::world::World;

fn limited(limits: Limits) -> World {
    World::with(limits, EgressOptions::default())
}

#[test]
fn a_fork_bomb_is_ended() {
    let world = limited(Limits { processes: 64, ..Limits::default() });
    let started = Instant::now();
    let ran = world.work("bomb() { bomb | bomb & bomb; }; bomb; sleep 600");
    assert!(started.elapsed() < Duration::from_secs(120), "{ran:?}");
    assert!(
        ran.text.contains("more than 64 processes") || ran.text.contains("Resource temporarily unavailable"),
        "{ran:?}"
    );
}

#[test]
fn memory_is_limited_for_one_process_and_for_all_together() {
    let world = limited(Limits { memory_bytes: 256 << 20, ..Limits::default() });
    let ran = world.work("python3 -c 'x = bytearray(1 << 30); print(\"GOT\")'");
    assert!(ran.code != Some(0) && !ran.text.contains("GOT"), "{ran:?}");
    let one = "python3 -c 'x = bytearray(b\"x\") * (100 << 20); import time; time.sleep(600)'";
    let ran = world.work(&format!("{one} & {one} & {one} & {one} & wait"));
    assert!(ran.text.contains("more than 256 MiB of memory"), "{ran:?}");
}

#[test]
fn files_cpu_time_and_open_files_are_limited() {
    let world = limited(Limits { file_bytes: 1 << 20, cpu_seconds: 1, open_files: 64, ..Limits::default() });
    let ran = world.work("seq 1 99999999999 > big; wc -c < big");
    assert!(ran.text.contains("1048576"), "{ran:?}");
    let ran = world.work("while :; do :; done");
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert_eq!(world.work("ulimit -n").text, "64\n");
}
