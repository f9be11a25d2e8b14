//! Both directions of a server's session: the options of its two gates, and the streams made with them.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};

use linegate::{BadOptions, Direction, Options, REPLY_LEN, Slot, Tracker};

use crate::filter::{Filter, Link};
use crate::outbox::Outbox;
use crate::random_key;
use crate::reader::{GatedReader, Replies};
use crate::writer::GatedWriter;

/// What a server's two streams are gated with. They share a [`Tracker`], unless the revision is plain JSON-RPC, and the reader
/// answers refused requests itself, on the writer's wire and between its lines.
///
/// ```
/// use std::io::{BufRead, Write};
///
/// use linegate_host::Session;
///
/// let client: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";
/// // The process's own: `Session::stdio`, or `std::io::stdin()` and `std::io::stdout()`.
/// let (reader, mut writer) = Session::new()?.gate(client, std::io::sink())?;
/// for line in reader.lines() {
///     assert!(line?.contains("ping"), "nothing but ping comes before initialize");
///     writer.write_line(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}")?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// For the client's lines, which are read.
    pub client: Options,
    /// For the server's lines, which are written.
    pub server: Options,
    /// Requests of one side that may be in flight at once (456). Default 1024. Memory: 160 bytes each.
    pub in_flight: usize,
}

impl Session {
    /// The defaults of both directions, with a random key.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    pub fn new() -> io::Result<Self> {
        Ok(Self::of(Options::new(Direction::FromClient, random_key()?)))
    }

    /// A session whose client has these options, and whose server speaks the same protocol within the same bounds.
    #[must_use]
    pub fn of(client: Options) -> Self {
        let mut server = Options::new(Direction::FromServer, client.audit_key);
        server.revision = client.revision;
        server.versions = client.versions;
        server.methods = client.methods;
        server.result_types = client.result_types;
        // An error with the longest id always has room.
        let error = REPLY_LEN as u32 + u32::from(client.limits.max_id);
        server.limits.max_frame = client.limits.max_frame.max(error);
        server.limits.max_id = client.limits.max_id;
        Self { client, server, in_flight: 1024 }
    }

    /// Gates a server's input and output. The wire ends when the writer is dropped, though the reader knows it too.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`Gate::new`](linegate::Gate::new) and [`Tracker::new`].
    pub fn gate<R: Read, W: Write + Send + 'static>(
        &self,
        reader: R,
        writer: W,
    ) -> Result<(GatedReader<R>, GatedWriter<W>), BadOptions> {
        let (client, server) = self.filters()?;
        let wire = Arc::new(Mutex::new(Outbox::new(writer)));
        let replies: Replies = Arc::downgrade(&wire) as Replies;
        Ok((GatedReader::with(reader, client, Some(replies)), GatedWriter::with(wire, server)))
    }

    /// Gates this process's standard input and output, which nothing else reaches as long as the guard stands.
    ///
    /// # Errors
    /// As of [`StdioGuard::take`](crate::StdioGuard::take); [`BadOptions`] (903) with kind [`Other`](io::ErrorKind::Other).
    #[cfg(unix)]
    pub fn stdio(&self) -> io::Result<(crate::StdioGuard, GatedReader<std::fs::File>, GatedWriter<std::fs::File>)> {
        let (guard, stdin, stdout) = crate::StdioGuard::take()?;
        let (reader, writer) = self.gate(stdin, stdout).map_err(io::Error::other)?;
        Ok((guard, reader, writer))
    }

    /// The two filters, of the client's lines and of the server's.
    pub(crate) fn filters(&self) -> Result<(Filter, Filter), BadOptions> {
        let (client, server) = (&self.client, &self.server);
        let link = Link::new(self.tracker()?);
        Ok((Filter::new(client.clone(), Some(link.clone()))?, Filter::new(server.clone(), Some(link))?))
    }
    /// What the two directions remember together; nothing in plain JSON-RPC.
    pub(crate) fn tracker(&self) -> Result<Option<Tracker<Vec<Slot>>>, BadOptions> {
        let (client, server) = (&self.client, &self.server);
        let mcp = client.revision.is_mcp() || server.revision.is_mcp();
        let slots = || vec![Slot::EMPTY; self.in_flight.saturating_mul(4)];
        mcp.then(|| Tracker::new(client, server, slots())).transpose()
    }
}
