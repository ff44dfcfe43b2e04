//! A line to the server that is cut again and again, after a number of bytes that nobody foresees.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::harness::Random;

/// A proxy that cuts. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) socket: PathBuf,
    cuts: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Cuts each connection after less than `most` bytes from the server; `most` grows, so that everything ends.
    pub(crate) fn new(server: &Path, seed: u64, most: usize) -> Self {
        let socket = server.with_extension(format!("proxy-{seed}"));
        let listener = UnixListener::bind(&socket).unwrap();
        let cuts = Arc::new(AtomicUsize::new(0));
        let task = tokio::spawn(accept(listener, server.to_owned(), Random(seed), most, Arc::clone(&cuts)));
        Self { socket, cuts, task }
    }

    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: UnixListener, server: PathBuf, mut random: Random, mut most: usize, cuts: Arc<AtomicUsize>) {
    let mut lines = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let allowed = random.below(most);
        most += most / 8;
        let (server, cuts) = (server.clone(), Arc::clone(&cuts));
        lines.spawn(async move {
            pass(client, &server, allowed).await;
            cuts.fetch_add(1, Ordering::Relaxed);
        });
    }
}

/// Passes everything to the server, and so many bytes back.
async fn pass(mut client: UnixStream, server: &Path, mut allowed: usize) {
    let Ok(mut server) = UnixStream::connect(server).await else { return };
    let (mut to_server, mut to_client) = (vec![0; 4096], vec![0; 4096]);
    while allowed > 0 {
        let most = allowed.min(4096);
        let passed = tokio::select! {
            read = client.read(&mut to_server) => match read {
                Ok(count @ 1..) => server.write_all(&to_server[..count]).await,
                _ => return,
            },
            read = server.read(&mut to_client[..most]) => match read {
                Ok(count @ 1..) => {
                    allowed -= count;
                    client.write_all(&to_client[..count]).await
                }
                _ => return,
            },
        };
        if passed.is_err() {
            return;
        }
    }
}
