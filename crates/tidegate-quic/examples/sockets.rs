//! quinn over the kernel's UDP in real time, to stand beside a flow of QUIC in virtual time: a server that writes without end, and a
//! client that says each second and at the end how much has come.
//!
//! `sockets server 10.77.0.1:4433`; `sockets client 10.77.0.1:4433 SECONDS [SKIPPED]`: the last line leaves out the first SKIPPED seconds.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]
#![allow(clippy::disallowed_methods, reason = "it runs in real time")]

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use quinn::{Endpoint, Incoming, RecvStream, ServerConfig, TokioRuntime, WriteError};
use tidegate_quic::{client_config, endpoint_config, server_config};
use tokio::time::Instant;

type Outcome = Result<(), Box<dyn Error>>;

const USAGE: &str = "sockets server ADDRESS:PORT\nsockets client ADDRESS:PORT SECONDS [SKIPPED]";

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match words[..] {
        ["server", address] => runtime.block_on(serve(address.parse()?)),
        ["client", address, seconds] => runtime.block_on(fetch(address.parse()?, seconds.parse()?, 0)),
        ["client", address, seconds, skipped] => {
            runtime.block_on(fetch(address.parse()?, seconds.parse()?, skipped.parse()?))
        }
        _ => Err(USAGE.into()),
    }
}

fn endpoint(address: SocketAddr, server: Option<ServerConfig>) -> Result<Endpoint, Box<dyn Error>> {
    let socket = UdpSocket::bind(address)?;
    Ok(Endpoint::new(endpoint_config(), server, socket, Arc::new(TokioRuntime))?)
}

/// Serves one client after the other, until it is ended.
async fn serve(address: SocketAddr) -> Outcome {
    let endpoint = endpoint(address, Some(server_config()))?;
    while let Some(incoming) = endpoint.accept().await {
        match write(incoming).await {
            // A client that has what it wants closes the connection.
            Err(error) if !error.is::<WriteError>() => println!("{error}"),
            _ => {}
        }
    }
    Ok(())
}

/// Writes on a stream of the server until the connection ends.
async fn write(incoming: Incoming) -> Outcome {
    let connection = incoming.await?;
    let mut stream = connection.open_uni().await?;
    loop {
        stream.write_all(&[0; 65536]).await?;
    }
}

/// Reads for so many seconds, counted from the end of the handshake. `skipped` seconds are not in the last line.
async fn fetch(address: SocketAddr, seconds: u32, skipped: u32) -> Outcome {
    if skipped >= seconds {
        return Err("SKIPPED is to be less than SECONDS".into());
    }
    let mut endpoint = endpoint((Ipv4Addr::UNSPECIFIED, 0).into(), None)?;
    endpoint.set_default_client_config(client_config());
    let connection = endpoint.connect(address, "server")?.await?;
    let began = Instant::now();
    let mut stream = connection.accept_uni().await?;
    let mut counted = 0;
    for second in 1..=seconds {
        let bytes = read_until(&mut stream, began + Duration::from_secs(second.into())).await?;
        println!("{second:>4} s  {:7.3} Mbit/s", mbps(bytes, 1));
        if second > skipped {
            counted += bytes;
        }
    }
    println!("goodput {:.3} Mbit/s from {skipped} s to {seconds} s", mbps(counted, seconds - skipped));
    connection.close(0_u32.into(), b"enough");
    endpoint.wait_idle().await;
    Ok(())
}

/// Bytes that come before `end`.
async fn read_until(stream: &mut RecvStream, end: Instant) -> Result<u64, Box<dyn Error>> {
    let mut bytes = 0;
    loop {
        match tokio::time::timeout_at(end, stream.read_chunk(usize::MAX, true)).await {
            Err(_passed) => return Ok(bytes),
            Ok(chunk) => bytes += chunk?.ok_or("the server ended its stream")?.bytes.len() as u64,
        }
    }
}

fn mbps(bytes: u64, seconds: u32) -> f64 {
    bytes as f64 * 8.0 / f64::from(seconds) / 1e6
}
