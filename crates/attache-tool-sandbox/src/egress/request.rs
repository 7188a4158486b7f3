//! Parses the head of a request to the proxy: its target, and what is forwarded.

/// A request to the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProxyRequest {
    pub(super) host: String,
    pub(super) port: u16,
    /// The head to send to the host. None for `CONNECT`.
    pub(super) forwarded: Option<Vec<u8>>,
}

/// Parses a complete head. The error says what is wrong.
pub(super) fn parse(head: &[u8]) -> Result<ProxyRequest, String> {
    let text = str::from_utf8(head).map_err(|_| "the request is not text".to_owned())?;
    let (line, fields) = text.split_once("\r\n").ok_or("the request has no first line")?;
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("the request's first line is not three words".to_owned());
    };
    if method == "CONNECT" {
        let (host, port) = authority(target, None)?;
        return Ok(ProxyRequest { host, port, forwarded: None });
    }
    let rest = target.strip_prefix("http://").ok_or("only http:// addresses and CONNECT are understood")?;
    let (named, path) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
    let (host, port) = authority(named, Some(80))?;
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let passed = |field: &&str| {
        let name = field.split(':').next().unwrap_or_default();
        !["connection", "proxy-connection", "proxy-authorization", "host"]
            .iter()
            .any(|dropped| name.eq_ignore_ascii_case(dropped))
    };
    let fields: Vec<&str> = fields.split("\r\n").filter(|field| !field.is_empty()).filter(passed).collect();
    let mut forwarded = format!("{method} {path} {version}\r\nHost: {named}\r\nConnection: close\r\n");
    for field in fields {
        forwarded.push_str(field);
        forwarded.push_str("\r\n");
    }
    forwarded.push_str("\r\n");
    Ok(ProxyRequest { host, port, forwarded: Some(forwarded.into_bytes()) })
}

fn authority(text: &str, default: Option<u16>) -> Result<(String, u16), String> {
    let wrong = || format!("{text:?} is no host and port");
    if text.contains('@') {
        return Err(wrong());
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port.parse().map_err(|_| wrong())?)),
        _ => (text, default),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    if host.is_empty() || !host.bytes().all(plain) {
        return Err(wrong());
    }
    port.map(|port| (host, port)).ok_or_else(wrong)
}

/// Whether the list allows this host and port. An entry without a port allows 80 and 443.
pub(super) fn allows(hosts: &[String], host: &str, port: u16) -> bool {
    hosts.iter().any(|entry| {
        let entry = entry.to_ascii_lowercase();
        let (name, wanted) = match entry.rsplit_once(':') {
            Some((name, number)) if !name.contains(':') || name.ends_with(']') => (name, number.parse().ok()),
            _ => (entry.as_str(), None),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let port_fits = wanted.map_or(matches!(port, 80 | 443), |wanted: u16| wanted == port);
        let below = || name.strip_prefix('*').is_some_and(|end| end.starts_with('.') && host.ends_with(end));
        port_fits && (name == "*" || name == host || below())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_understood() {
        let connect = parse(b"CONNECT Example.com.:443 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!(connect, ProxyRequest { host: "example.com".into(), port: 443, forwarded: None });
        let get = parse(
            b"GET http://example.com/a?b HTTP/1.1\r\nHost: evil\r\nProxy-Connection: x\r\nA: b\r\n\r\n",
        )
        .unwrap();
        assert_eq!((get.host.as_str(), get.port), ("example.com", 80));
        let forwarded = String::from_utf8(get.forwarded.unwrap()).unwrap();
        assert_eq!(forwarded, "GET /a?b HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\nA: b\r\n\r\n");
        assert_eq!(parse(b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n").unwrap().host, "::1");
        for wrong in
            ["CONNECT x HTTP/1.1", "CONNECT a@b:1 HTTP/1.1", "GET / HTTP/1.1", "GET ftp://x/ HTTP/1.1", "x"]
        {
            assert!(parse(format!("{wrong}\r\n\r\n").as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_listed_hosts_are_let_through() {
        let hosts = ["a.example", "*.b.example", "c.example:8080"].map(str::to_owned);
        for (host, port, expected) in [
            ("a.example", 443, true),
            ("a.example", 80, true),
            ("a.example", 22, false),
            ("x.a.example", 443, false),
            ("x.b.example", 443, true),
            ("b.example", 443, false),
            ("xb.example", 443, false),
            ("c.example", 8080, true),
            ("c.example", 443, false),
        ] {
            assert_eq!(allows(&hosts, host, port), expected, "{host}:{port}");
        }
        assert!(allows(&["*".to_owned()], "any.example", 443));
        assert!(allows(&["[::1]:9".to_owned()], "::1", 9));
    }
}
