//! One direction of a session without I/O: bytes in, accepted lines out, refusals told and answered. The blocking streams and
//! the asynchronous ones are two faces of it.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

use linegate::{BadOptions, Event, Gate, Options, REPLY_LEN, Record, Refusal, Slot, TooSmall, Tracker};

use crate::HeapStorage;

/// Bytes that are read at once, and about as many that are judged ahead of what was handed on.
pub(crate) const PIECE: usize = 65536;

/// Who is told of refused lines.
pub(crate) type Observer = Box<dyn FnMut(&Refusal<'_>) + Send>;

/// What the two directions of one session share.
#[derive(Debug)]
pub(crate) struct Link {
    /// What they remember together; nothing in plain JSON-RPC.
    tracker: Option<Mutex<Tracker<Vec<Slot>>>>,
    over: AtomicBool,
}

impl Link {
    pub(crate) fn new(tracker: Option<Tracker<Vec<Slot>>>) -> Arc<Self> {
        Arc::new(Self { tracker: tracker.map(Mutex::new), over: AtomicBool::new(false) })
    }

    /// What the server wrote has ended the session.
    pub(crate) fn end(&self) {
        self.over.store(true, SeqCst);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }
}

/// A gate, the session that it belongs to if there is one, and who hears of its refusals.
pub(crate) struct Filter {
    gate: Gate<HeapStorage>,
    link: Option<Arc<Link>>,
    observer: Option<Observer>,
}

impl Filter {
    pub(crate) fn new(options: Options, link: Option<Arc<Link>>) -> Result<Self, BadOptions> {
        let storage = HeapStorage::with_limits(&options.limits);
        Ok(Self { gate: Gate::new(options, storage)?, link, observer: None })
    }

    pub(crate) fn observe(&mut self, observer: impl FnMut(&Refusal<'_>) + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    pub(crate) const fn gate(&self) -> &Gate<HeapStorage> {
        &self.gate
    }

    pub(crate) fn link(&self) -> Option<&Link> {
        self.link.as_deref()
    }

    /// Judges one line at most. What goes on is added to `onward`, the answer to a refused request to `back`, if there is a
    /// way back. Gives how many bytes were consumed, and the record of the line if it was refused.
    ///
    /// What goes on is the line, or, in a session that doesn't end with it, the error in the place of a response that was
    /// refused: the one who waits for that is the receiver of this direction.
    pub(crate) fn feed(
        &mut self,
        input: &[u8],
        onward: &mut Vec<u8>,
        back: Option<&mut Vec<u8>>,
    ) -> (usize, Option<Record>) {
        let tracker = self.link.as_ref().and_then(|link| link.tracker.as_ref());
        let fed = match tracker {
            Some(tracker) => self.gate.feed_with(input, &mut *tracker.lock().unwrap_or_else(PoisonError::into_inner)),
            None => self.gate.feed(input),
        };
        let record = match fed.event {
            Event::Message(message) => {
                onward.extend_from_slice(message.bytes());
                onward.push(b'\n');
                None
            }
            Event::Refused(refusal) => {
                if !refusal.closes() {
                    append(onward, |place| refusal.write_settlement(place));
                }
                if let Some(back) = back {
                    append(back, |place| refusal.write_reply(place));
                }
                Some(tell(&mut self.observer, &refusal))
            }
            _ => None,
        };
        (fed.consumed, record)
    }

    /// The end of input: a line without its line feed is told, and goes nowhere.
    pub(crate) fn finish(&mut self) {
        if let Event::Refused(refusal) = self.gate.finish() {
            tell(&mut self.observer, &refusal);
        }
    }
}

fn tell(observer: &mut Option<Observer>, refusal: &Refusal<'_>) -> Record {
    if let Some(observer) = observer {
        observer(refusal);
    }
    refusal.record()
}

/// Adds what `write` writes.
fn append(out: &mut Vec<u8>, write: impl Fn(&mut [u8]) -> Result<usize, TooSmall>) {
    let start = out.len();
    let mut room = REPLY_LEN;
    let len = loop {
        out.resize(start + room, 0);
        match write(&mut out[start..]) {
            Ok(len) => break len,
            // A host that took a larger `max_id` may have a longer line.
            Err(small) => room = small.needed,
        }
    };
    out.truncate(start + len);
}
