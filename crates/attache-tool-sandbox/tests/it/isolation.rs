use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use attache_tool::{Access, AccessLevel};

use crate::world::World;

#[test]
fn look_reads_the_workspace_and_writes_only_a_temporary_folder() {
    let world = World::new();
    let ran = world
        .look("cat notes.txt && echo x > $TMPDIR/t && cat /tmp/t && echo y > ~/cache && ! touch notes.txt");
    assert_eq!((ran.code, ran.text.contains("inside")), (Some(0), true), "{ran:?}");
    assert!(!world.beside("home/cache").exists());
    assert_eq!(world.look("cat /tmp/t ~/cache").text, "x\ny\n", "a conversation keeps its temporary files");
}

#[test]
fn nothing_outside_is_read_also_not_through_links() {
    let world = World::new();
    let key = world.beside("home/.ssh/id_rsa");
    symlink(&key, world.root().join("link")).unwrap();
    symlink("/proc/1/environ", world.root().join("first")).unwrap();
    symlink(world.beside("."), world.root().join("up")).unwrap();
    let server = std::process::id();
    for script in [
        "cat link".to_owned(),
        "grep -R key up/".to_owned(),
        "cat ~/.ssh/id_rsa".to_owned(),
        format!("cat {}", key.display()),
        format!("cat {}", world.beside("outside.txt").display()),
        format!("cat /proc/{server}/environ /proc/{server}/cmdline /proc/{server}/maps"),
        "cat /etc/shadow /etc/ssh/*key".to_owned(),
        "head -c 10 /dev/mem /dev/kmem /dev/sda /dev/vda".to_owned(),
    ] {
        for level in [AccessLevel::Look, AccessLevel::Work] {
            let ran = world.run(&script, &Access::new(level));
            assert_ne!(ran.code, Some(0), "{script}: {ran:?}");
            assert!(
                !ran.text.contains("private key") && !ran.text.contains("outside\n"),
                "{script}: {ran:?}"
            );
        }
    }
}

#[test]
fn work_writes_the_workspace_and_nothing_else_also_not_through_links() {
    let world = World::new();
    symlink(world.beside("outside.txt"), world.root().join("todo.md")).unwrap();
    symlink(world.beside("."), world.root().join("up")).unwrap();
    let ran = world.work("echo new > new.txt; mkdir -p a/b; mv new.txt a/b/; echo x > todo.md; echo x > up/made; touch /usr/x /x");
    assert_eq!(fs::read_to_string(world.root().join("a/b/new.txt")).unwrap(), "new\n", "{ran:?}");
    assert_eq!(fs::read_to_string(world.beside("outside.txt")).unwrap(), "outside");
    assert!(!world.beside("made").exists());
}

#[test]
fn protected_paths_cannot_be_written_replaced_or_made() {
    let world = World::new();
    let root = world.root();
    fs::create_dir_all(root.join(".github/workflows")).unwrap();
    for (name, text) in [(".github/workflows/ci.yml", "ci"), (".env", "A=1"), ("AGENTS.md", "words")] {
        fs::write(root.join(name), text).unwrap();
    }
    symlink("AGENTS.md", root.join("GEMINI.md")).unwrap();
    let ran = world.work(
        "echo x > .env; rm -f .env; mv .env e; ln -sf /dev/null .env; sed -i s/ci/evil/ .github/workflows/ci.yml; \
         mv .github .g; rm -rf .github; echo x >> AGENTS.md; mkdir -p .vscode .gemini; echo x > .vscode/tasks.json; \
         echo x > .gemini/settings.json; rm GEMINI.md; echo x > GEMINI.md; echo x > .envrc; true",
    );
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    assert_eq!(
        (read(".env"), read(".github/workflows/ci.yml"), read("AGENTS.md")),
        ("A=1".into(), "ci".into(), "words".into()),
        "{ran:?}"
    );
    for name in [".vscode", ".gemini", ".envrc", "GEMINI.md"] {
        assert!(fs::symlink_metadata(root.join(name)).is_err(), "{name}: {ran:?}");
        assert!(ran.blocked.iter().any(|what| what.contains(name)), "{name}: {ran:?}");
    }
}

#[test]
fn protected_files_in_the_folders_of_a_workspace_are_kept_as_well() {
    let world = World::new();
    let root = world.root();
    fs::create_dir_all(root.join("app/api")).unwrap();
    fs::create_dir_all(root.join("node_modules/x")).unwrap();
    for name in ["app/AGENTS.md", "app/api/GEMINI.md", "app/api/.env", "node_modules/x/.env"] {
        fs::write(root.join(name), "before").unwrap();
    }
    let attack = "for f in app/AGENTS.md app/api/GEMINI.md app/api/.env node_modules/x/.env; do echo x > $f; rm -f $f; done; \
                  mv app/api app/b; mv app a; echo x > app/api/main.txt && echo worked";
    let ran = world.work(attack);
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    for name in ["app/AGENTS.md", "app/api/GEMINI.md", "app/api/.env"] {
        assert_eq!(read(name), "before", "{name}: {ran:?}");
    }
    assert!(ran.text.contains("worked") && read("node_modules/x/.env").is_empty(), "{ran:?}");
    // One that has come since then, and one that an approval names.
    fs::write(root.join("app/api/CLAUDE.md"), "before").unwrap();
    let named = Access { writes: vec![root.join("app/api/.env")], ..Access::new(AccessLevel::Work) };
    let ran = world.run("echo x > app/api/.env; echo x > app/api/CLAUDE.md", &named);
    assert_eq!(
        (read("app/api/.env").as_str(), read("app/api/CLAUDE.md").as_str()),
        ("x\n", "before"),
        "{ran:?}"
    );
}

#[test]
fn a_path_that_the_approval_names_can_be_written() {
    let world = World::new();
    fs::write(world.root().join(".env"), "A=1").unwrap();
    let named =
        |name: &str| Access { writes: vec![world.root().join(name)], ..Access::new(AccessLevel::Work) };
    let ran = world.run("echo A=2 > .env", &named(".env"));
    assert_eq!(fs::read_to_string(world.root().join(".env")).unwrap(), "A=2\n", "{ran:?}");
    let ran = world.run("mkdir .vscode && touch .vscode/x .envrc", &named(".vscode"));
    assert!(world.root().join(".vscode/x").exists(), "{ran:?}");
    assert!(!world.root().join(".envrc").exists(), "{ran:?}");
}

#[test]
fn services_of_this_machine_are_out_of_reach() {
    let world = World::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(world.beside("service.sock")).unwrap();
    let inside = UnixListener::bind(world.root().join("own.sock")).unwrap();
    tcp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    drop(inside);
    let port = tcp.local_addr().unwrap().port();
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port} && echo REACHED; python3 -c '
import socket
for address in [\"{}\"]:
    try:
        socket.socket(socket.AF_UNIX).connect(address); print(\"REACHED\")
    except OSError as error: print(error)
for family, kind in [(socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_INET6, socket.SOCK_DGRAM)]:
    try:
        socket.socket(family, kind).sendto(b\"x\", (\"198.51.100.1\" if family == socket.AF_INET else \"2001:db8::1\", 53)); print(\"REACHED\")
    except OSError as error: print(error)
'",
        world.beside("service.sock").display()
    );
    for level in [AccessLevel::Look, AccessLevel::Work] {
        let ran = world.run(&script, &Access::new(level));
        assert!(!ran.text.contains("REACHED"), "{ran:?}");
    }
    assert!(tcp.accept().is_err() && unix.accept().is_err(), "somebody came through");
}

#[test]
fn programs_can_talk_to_themselves() {
    let world = World::new();
    let ran = world.work(
        "python3 -c '
import socket
listener = socket.create_server((\"127.0.0.1\", 0))
socket.create_connection(listener.getsockname()).sendall(b\"x\")
print(listener.accept()[0].recv(1))'",
    );
    assert!(ran.text.contains("b'x'"), "{ran:?}");
}

#[test]
fn there_is_no_way_to_more_rights() {
    let world = World::new();
    let ran = world.work(
        "unshare -Ur true && echo GOT; mount -t tmpfs x /tmp && echo GOT; mount -o remount,rw /usr && echo GOT; \
         umount /tmp && echo GOT; umount .env && echo GOT; chroot . true && echo GOT; nsenter -t 1 -m true && echo GOT; \
         strace -p 1 && echo GOT; grep Cap /proc/self/status",
    );
    assert!(!ran.text.contains("GOT"), "{ran:?}");
    assert!(
        ran.text.contains("CapBnd:\t0000000000000000") && ran.text.contains("CapPrm:\t0000000000000000"),
        "{ran:?}"
    );
}

#[test]
fn exit_codes_and_signals_pass_through() {
    let world = World::new();
    assert_eq!(world.look("exit 7").code, Some(7));
    let (mut command, _launch) = world.command("kill -TERM $$", &Access::new(AccessLevel::Look));
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&command.status().unwrap()), Some(15));
    assert_eq!(world.look("no-such-program").code, Some(127));
}

#[test]
fn what_a_command_leaves_running_ends_with_it() {
    let world = World::new();
    let ran = world.work("setsid nohup bash -c 'sleep 0.3; touch late' >/dev/null 2>&1 & echo left");
    assert_eq!(ran.text, "left\n");
    // Nothing of it is there any more once the command has been waited for.
    let marked = world.root().display().to_string();
    let line = |pid: &str| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let left: Vec<String> = pids
        .filter(|pid| pid.parse::<u32>().is_ok())
        .filter(|pid| String::from_utf8_lossy(&line(pid)).contains(&marked))
        .collect();
    assert_eq!(left, Vec::<String>::new());
    assert!(!world.root().join("late").exists());
}

#[test]
fn a_command_ends_with_the_server() {
    let world = World::new();
    // The server is a shell that starts the command and ends at once.
    let (command, _launch) = world.command("touch started; sleep 600", &Access::new(AccessLevel::Work));
    let mut line = vec!["-c".into(), "".into(), "server".into()];
    line.push(command.get_program().to_owned());
    line.extend(command.get_args().map(|argument| {
        // The plan names this process as the server; here the shell is.
        argument.to_owned()
    }));
    let plan = line[5].to_str().unwrap().to_owned();
    let own = format!("\"server\":{},", std::process::id());
    line[5] = plan.replace(&own, "\"server\":SHELL,").into();
    // Not for ever: a command that does not start is a test that fails.
    let wait = "for i in $(seq 3000); do test -e started && break; sleep 0.01; done";
    line[1] = format!("set -- \"$1\" \"$2\" \"${{3/SHELL/$$}}\" \"${{@:4}}\"; \"$@\" & {wait}").into();
    let output = std::process::Command::new("bash")
        .args(&line)
        .current_dir(world.root())
        .envs(world.workspace.environment.iter().cloned())
        .output()
        .unwrap();
    // The pipe is closed once nothing of it is left.
    assert!(output.status.success() && world.root().join("started").exists(), "{output:?}");
}

#[test]
fn a_home_that_is_the_workspace_hides_its_secrets() {
    let mut world = World::new();
    world.workspace.roots = vec![world.beside("home")];
    for level in [AccessLevel::Look, AccessLevel::Work] {
        let ran = world.run("ls -a; cat .ssh/id_rsa", &Access::new(level));
        assert!(ran.code == Some(1) && !ran.text.contains("private key"), "{ran:?}");
    }
}

#[test]
fn links_that_a_command_left_lead_the_next_one_nowhere() {
    let world = World::new();
    fs::create_dir_all(world.beside("home/.cargo/bin")).unwrap();
    let world = World { sandbox: world.rebuilt(), ..world };
    let aim = format!("/.old{}", world.beside("aim").display());
    let ran = world.work(&format!(
        "rm -rf ~/.cargo; ln -s {aim} ~/.cargo; ls -la ~; mkdir -p /tmp/x; ln -s {aim} /tmp/y"
    ));
    // The folder is a mount by now, so it cannot be replaced from inside; whatever was left leads nowhere.
    for level in [AccessLevel::Look, AccessLevel::Work] {
        world.run("true", &Access::new(level));
    }
    symlink(&aim, world.workspace.scratch.join("home/.rustup")).unwrap();
    let planted = world.workspace.scratch.join("home/.cargo");
    fs::remove_dir_all(&planted).unwrap();
    symlink(&aim, &planted).unwrap();
    let again = world.work("true");
    assert_eq!(again.code, Some(125), "it is not started: {again:?} {ran:?}");
    assert!(!world.beside("aim").exists());
}

#[test]
fn descriptors_that_the_server_has_open_are_closed() {
    let world = World::new();
    let (command, _launch) =
        world.command("cat <&9; echo x >&9; ls /proc/self/fd | wc -l", &Access::new(AccessLevel::Look));
    let mut line =
        vec!["-c".into(), "exec 9<>\"$0\"; exec \"$@\"".into(), world.beside("outside.txt").into_os_string()];
    line.push(command.get_program().to_owned());
    line.extend(command.get_args().map(ToOwned::to_owned));
    let output = std::process::Command::new("bash").args(&line).current_dir(world.root()).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("9: Bad file descriptor") && !text.contains("outside\n"), "{text}");
    assert_eq!(fs::read_to_string(world.beside("outside.txt")).unwrap(), "outside");
}

#[test]
fn protection_is_not_led_around() {
    let world = World::new();
    symlink("vs", world.root().join(".vscode")).unwrap();
    let ran = world.work(
        "for i in $(seq 1000); do : > .idea.blocked-$i; done; mkdir .idea; echo x > .idea/x; \
         mkdir cc; echo x > cc/config.toml; ln -s cc .cargo; mkdir -p gh/workflows; ln -s gh .github; \
         mkdir vs; echo x > vs/tasks.json; true",
    );
    for name in [".idea", ".cargo/config.toml", ".github/workflows", ".vscode/tasks.json"] {
        assert!(!world.root().join(name).exists(), "{name}: {ran:?}");
    }
    for name in [".idea", ".cargo", ".github", "vs"] {
        assert!(ran.blocked.iter().any(|what| what.contains(&format!("it wrote {name}"))), "{name}: {ran:?}");
    }
}

#[test]
fn a_home_that_is_the_workspace_hides_its_secrets_for_good() {
    let mut world = World::new();
    let home = world.beside("home");
    fs::create_dir_all(home.join(".config/gh")).unwrap();
    fs::write(home.join(".config/gh/hosts.yml"), "the secret token").unwrap();
    world.workspace.roots = vec![home.clone()];
    let world = World { sandbox: world.rebuilt(), ..world };
    world.work("mv .config .moved; mkdir .config");
    let ran = world.work("cat .moved/gh/hosts.yml .config/gh/hosts.yml");
    assert!(!ran.text.contains("secret token"), "{ran:?}");
}
