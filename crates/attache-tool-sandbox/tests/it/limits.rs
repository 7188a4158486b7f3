use std::time::{Duration, Instant};

use attache_tool::Access;
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
    let one = "python3 -c 'x = bytearray(b\"x\") * (1 << 30); import time; time.sleep(600)'";
    let ran = world.work(one);
    assert!(ran.code != Some(0) && ran.text.contains("more than 256 MiB of memory"), "{ran:?}");
    let ran = world.work("python3 -c 'x = bytearray(6 << 30); print(\"GOT\")'");
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

#[test]
fn limits_hold_for_commands_without_confinement_too() {
    let world = limited(Limits { file_bytes: 1 << 20, open_files: 64, ..Limits::default() });
    let ran = world.run("ulimit -n; cat ~/.ssh/id_rsa", &Access::open());
    assert!(ran.text.starts_with("64\n") && ran.text.contains("the private key"), "{ran:?}");
    let ran = world.run("seq 1 99999999999 > big; wc -c < big", &Access::open());
    assert!(ran.text.contains("1048576"), "{ran:?}");
}
