//! One connection: reads a request and plays its planned response.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::model_server::{PlannedResponse, ReceivedRequest, ResponseEnd, ResponseStep, Shared};
use crate::test_client::find;

pub(super) async fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = BufReader::new(stream);
    let Some(received) = read_request(&mut connection).await? else { return Ok(()) };
    let planned = shared.choose(received);
    let ending = planned.ending;
    play(&mut connection, planned, shared).await?;
    match ending {
        ResponseEnd::Whole => connection.write_all(b"0\r\n\r\n").await?,
        ResponseEnd::Cut => {}
        ResponseEnd::Reset => connection.get_ref().set_zero_linger()?,
    }
    if ending != ResponseEnd::Reset {
        connection.shutdown().await?;
    }
    Ok(())
}

async fn play(
    connection: &mut BufReader<TcpStream>,
    planned: PlannedResponse,
    shared: &Shared,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Planned\r\n", planned.status);
    for (name, value) in &planned.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    connection.write_all(head.as_bytes()).await?;
    for step in planned.steps {
        match step {
            ResponseStep::Bytes(bytes) if bytes.is_empty() => {}
            ResponseStep::Bytes(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend(bytes);
                chunk.extend(b"\r\n");
                connection.write_all(&chunk).await?;
            }
            ResponseStep::Pause(pause) => tokio::time::sleep(pause).await,
            ResponseStep::Hold => hold(connection, shared).await?,
        }
    }
    Ok(())
}

/// Waits for the test, or for the client to disconnect.
async fn hold(connection: &mut BufReader<TcpStream>, shared: &Shared) -> io::Result<()> {
    tokio::select! {
        permit = shared.released.acquire() => {
            permit.map_err(io::Error::other)?.forget();
            Ok(())
        }
        gone = connection.read_u8() => {
            shared.abandoned.add_permits(1);
            Err(gone.err().unwrap_or_else(|| io::Error::other("more than one request")))
        }
    }
}

/// `None` if the client disconnected without a request.
pub(crate) async fn read_request(
    connection: &mut BufReader<TcpStream>,
) -> io::Result<Option<ReceivedRequest>> {
    let mut line = String::new();
    if connection.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).await?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let body = read_body(connection, &headers).await?;
    Ok(Some(ReceivedRequest { method, target, headers, body }))
}

async fn read_body(
    connection: &mut BufReader<TcpStream>,
    headers: &[(String, String)],
) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if find(headers, "transfer-encoding").is_some() {
        while let Some(chunk) = crate::test_client::read_chunk(connection).await? {
            body.extend(chunk);
        }
    } else if let Some(length) = find(headers, "content-length") {
        body.resize(length.parse().map_err(io::Error::other)?, 0);
        // A client that stops in the middle of its request would block the server.
        let patience = Duration::from_secs(10);
        tokio::time::timeout(patience, connection.read_exact(&mut body)).await??;
    }
    Ok(body)
}
