//! The open connections, whose number is limited.

use crate::cli::lock;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};

/// Maximum number of connections that are served at the same time.
const MOST: usize = 32;

/// All open connections, the oldest first.
#[derive(Default)]
pub(super) struct Connections(Mutex<Open>);

#[derive(Default)]
struct Open {
    /// The number of each connection, and its stream until its request has arrived.
    connections: Vec<(u64, Option<TcpStream>)>,
    next: u64,
}

/// A connection, which counts as open until this value is dropped.
pub(super) struct Counted {
    all: Arc<Connections>,
    number: u64,
}

impl Connections {
    /// Counts a connection. If there are too many, closes the one that has been without a request for
    /// longest: idle connections must not keep others out. `None` if all of them have requests.
    pub(super) fn admit(self: &Arc<Self>, stream: &TcpStream) -> Option<Counted> {
        let mut open = lock(&self.0);
        if open.connections.len() >= MOST {
            let idle = open.connections.iter().position(|(_, idle)| idle.is_some())?;
            if let (_, Some(idle)) = open.connections.remove(idle) {
                let _ = idle.shutdown(Shutdown::Both); // It may have been closed by its client.
            }
        }
        let number = open.next;
        open.next += 1;
        open.connections.push((number, stream.try_clone().ok()));
        Some(Counted { all: Arc::clone(self), number })
    }
}

impl Counted {
    /// Marks the connection as not idle, because its request has arrived.
    pub(super) fn busy(&self) {
        let mut open = lock(&self.all.0);
        let this = open.connections.iter_mut().find(|(number, _)| *number == self.number);
        if let Some((_, idle)) = this {
            *idle = None;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        lock(&self.all.0).connections.retain(|(number, _)| *number != self.number);
    }
}
