//! Making gates: every one of this program has a random key and storage that grows to its limits. The two gates of a
//! session share a tracker.

use linegate::{Direction, Fed, Gate, Options, Slot};
use linegate_host::{HeapStorage, random_key};

/// Requests of one side that may be in flight at once.
const IN_FLIGHT: usize = 1024;

/// What the two gates of a session remember together.
pub type Tracker = linegate::Tracker<Vec<Slot>>;

/// The defaults for lines from there.
pub fn options(from: Direction) -> Result<Options, String> {
    let key = random_key().map_err(|error| format!("the system gives no random key: {error}"))?;
    Ok(Options::new(from, key))
}

/// A gate with these options.
pub fn open(options: Options) -> Result<Gate<HeapStorage>, String> {
    let storage = HeapStorage::with_limits(&options.limits);
    Gate::new(options, storage).map_err(|bad| bad.to_string())
}

/// A tracker for the gates with these options.
pub fn track(client: &Options, server: &Options) -> Result<Tracker, String> {
    // Four slots for each request: two tables, and as much room for what has left them.
    Tracker::new(client, server, vec![Slot::EMPTY; 4 * IN_FLIGHT]).map_err(|bad| bad.to_string())
}

/// Both gates of one session, where one thread feeds them.
#[derive(Debug)]
pub struct Pair {
    client: Gate<HeapStorage>,
    server: Gate<HeapStorage>,
    tracker: Tracker,
}

impl Pair {
    /// The gates with these options.
    pub fn open(client: Options, server: Options) -> Result<Self, String> {
        let tracker = track(&client, &server)?;
        Ok(Self { client: open(client)?, server: open(server)?, tracker })
    }

    /// The gate of that sender's lines.
    pub const fn gate(&mut self, from: Direction) -> &mut Gate<HeapStorage> {
        match from {
            Direction::FromClient => &mut self.client,
            Direction::FromServer => &mut self.server,
        }
    }

    /// Feeds that gate with the session.
    pub fn feed<'a>(&'a mut self, from: Direction, input: &'a [u8]) -> Fed<'a> {
        let gate = match from {
            Direction::FromClient => &mut self.client,
            Direction::FromServer => &mut self.server,
        };
        gate.feed_with(input, &mut self.tracker)
    }
}
