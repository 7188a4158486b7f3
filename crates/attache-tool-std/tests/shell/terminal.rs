use super::world::World;

#[track_caller]
fn check(found: &str, expected: &str) {
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_command_writes_to_a_terminal_of_a_known_size() {
    let world = World::on_terminal();
    let told = world.run("test -t 1 && test -t 2 && stty size <&1; echo $TERM").await;
    check(&told, "Output: 30 80\nxterm-256color");
}

#[tokio::test]
async fn colours_are_left_out() {
    let world = World::on_terminal();
    check(&world.run(r"printf '\e[1;31mred\e[0m and \e[32mgreen\e[0m\n'").await, "Output: red and green");
    assert_eq!(world.live.all().concat(), "red and green\n");
}

#[tokio::test]
async fn a_progress_bar_leaves_its_last_state() {
    let world = World::on_terminal();
    let command = r"for i in 10 50 100; do printf '\r\e[K%s%%' $i; sleep 0.02; done; echo; echo done";
    check(&world.run(command).await, "Output: 100%\ndone");
}

#[tokio::test]
async fn every_line_is_there_however_fast_it_comes() {
    let world = World::on_terminal();
    for _ in 0..5 {
        let told = world.run("seq 1 5000").await;
        let expected: Vec<String> = (1..=5000).map(|number| number.to_string()).collect();
        check(&told, &format!("Output: {}", expected.join("\n")));
    }
}

#[tokio::test]
async fn exit_codes_and_signals_are_told() {
    let world = World::on_terminal();
    check(&world.run("echo no >&2; exit 3").await, "Output: no\nExit Code: 3");
    check(&world.run("kill -TERM $$").await, "Output: (empty)\nSignal: 15 (SIGTERM)");
}

#[tokio::test]
async fn what_ignores_the_end_of_the_terminal_is_named_and_ends_with_its_owner() {
    let world = World::on_terminal();
    // As with `nohup`, but before the process is there: however slow it is, the end of the terminal does not end it.
    let told = world.run("trap '' HUP; sleep 1000 >/dev/null 2>&1 & echo $!").await;
    let pid = told.strip_prefix("Output: ").unwrap().lines().next().unwrap();
    assert_eq!(told, format!("Output: {pid}\nBackground PIDs: {pid}"));
    drop(world.tool());
    let World { folder, context, background, options, live } = world;
    drop(background);
    let world = World { folder, context, background: Default::default(), options, live };
    let begun = std::time::Instant::now();
    while !world.processes().is_empty() {
        assert!(begun.elapsed().as_secs() < 20);
        tokio::task::yield_now().await;
    }
}
