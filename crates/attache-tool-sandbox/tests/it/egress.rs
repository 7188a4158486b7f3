use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::Arc;

use attache_net::{AddressRules, ResolveFuture, Resolver};
use attache_tool::{Access, AccessLevel};
use attache_tool_sandbox::{CommandLimits, EgressOptions};

use crate::world::{World, ran};

/// A public address for every name, and this machine behind it.
#[derive(Debug)]
struct Internet;

impl Resolver for Internet {
    fn resolve(&self, host: &str) -> ResolveFuture {
        let inner = host.starts_with("inner");
        Box::pin(async move {
            let address = if inner { Ipv4Addr::new(10, 0, 0, 1) } else { Ipv4Addr::new(203, 0, 114, 1) };
            Ok(vec![IpAddr::V4(address)])
        })
    }

    fn dial_address(&self, _: IpAddr) -> IpAddr {
        Ipv4Addr::LOCALHOST.into()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn approved_hosts_are_reached_and_no_others() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 1024];
            let length = stream.read(&mut head).unwrap();
            let line = String::from_utf8_lossy(&head[..length]).lines().next().unwrap_or_default().to_owned();
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nserved {line}\n");
        }
    });
    let options = EgressOptions { rules: AddressRules::public_only(), resolver: Arc::new(Internet) };
    let world = Arc::new(World::with(CommandLimits::default(), options));
    let hosts = [format!("good.example:{port}"), format!("inner.example:{port}")];
    let access = Access { network: hosts.to_vec(), ..Access::new(AccessLevel::Work) };
    let script = format!(
        "curl -sS http://good.example:{port}/plain; curl -sSp http://good.example:{port}/tunnel; \
         curl -sS http://evil.example:{port}/; curl -sS http://inner.example:{port}/; curl -sS http://good.example/; \
         curl -sS --noproxy '*' --max-time 5 http://127.0.0.1:{port}/"
    );
    let (mut command, launch) = world.command(&script, &access);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let ran = ran(output, &launch);
    assert!(ran.text.contains("served GET /plain HTTP/1.1"), "{ran:?}");
    assert!(ran.text.contains("served GET /tunnel HTTP/1.1"), "{ran:?}");
    assert_eq!(ran.text.matches("served").count(), 2, "{ran:?}");
    for part in
        [format!("evil.example:{port} was not approved"), "good.example:80 was not approved".to_owned()]
    {
        assert!(ran.blocked.iter().any(|what| what.contains(&part)), "{part}: {ran:?}");
    }
    assert!(ran.blocked.iter().any(|what| what.contains("inner.example")), "{ran:?}");
}
