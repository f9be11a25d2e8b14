//! Two gates and a tracker: what is said of a line doesn't depend on how it was cut, a refused line leaves the session as it
//! was but for the request that it settles, and the bounds hold.
//!
//! The input: the options' bytes, then lines, each with the sender in its first byte (odd: the server).

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use linegate::{Direction, Event, Gate, Options, Policy, Slot, Tracker};
use linegate_fuzz::{KEY, Storage, options};

/// Requests of each side that may be in flight.
const IN_FLIGHT: usize = 3;

struct Session {
    client: Gate<Storage>,
    server: Gate<Storage>,
    tracker: Tracker<[Slot; 4 * IN_FLIGHT]>,
}

/// What is said of a line: an accepted one's length, or a refused one's code, offset and settled id.
type Said = (Option<usize>, Option<(u16, usize, Option<Vec<u8>>)>);

impl Session {
    fn new(client: &Options, server: &Options) -> Option<Self> {
        Some(Self {
            client: Gate::new(client.clone(), Storage::new()).ok()?,
            server: Gate::new(server.clone(), Storage::new()).ok()?,
            tracker: Tracker::new(client, server, [Slot::EMPTY; 4 * IN_FLIGHT]).ok()?,
        })
    }

    fn hear(&mut self, from: Direction, line: &[u8], piece: usize) -> Vec<Said> {
        let gate = if from == Direction::FromClient { &mut self.client } else { &mut self.server };
        let mut said = Vec::new();
        for mut rest in line.chunks(piece) {
            while !rest.is_empty() {
                let before = [Direction::FromClient, Direction::FromServer].map(|side| self.tracker.in_flight(side));
                let fed = gate.feed_with(rest, &mut self.tracker);
                rest = &rest[fed.consumed..];
                match fed.event {
                    Event::Message(message) => said.push((Some(message.bytes().len()), None)),
                    Event::Refused(refusal) => {
                        let settles = refusal.settles().map(<[u8]>::to_vec);
                        let after =
                            [Direction::FromClient, Direction::FromServer].map(|side| self.tracker.in_flight(side));
                        let gone = before.iter().sum::<usize>() - after.iter().sum::<usize>();
                        assert_eq!(gone, usize::from(settles.is_some()), "a refused line changed the session");
                        said.push((None, Some((refusal.code().number(), refusal.at(), settles))));
                    }
                    _ => {}
                }
            }
        }
        for side in [Direction::FromClient, Direction::FromServer] {
            assert!(self.tracker.in_flight(side) <= IN_FLIGHT);
        }
        said
    }
}

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some((mut client, lines)) = options(data) else { return Corpus::Reject };
    client.direction = Direction::FromClient;
    client.policy = Policy::Continue;
    let mut server = Options::new(Direction::FromServer, KEY);
    (server.revision, server.batches, server.policy) = (client.revision, client.batches, Policy::Continue);
    let (Some(mut whole), Some(mut cut)) = (Session::new(&client, &server), Session::new(&client, &server)) else {
        return Corpus::Reject;
    };
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let Some((mark, line)) = line.split_first().filter(|(_, line)| line.ends_with(b"\n")) else { continue };
        let from = if mark & 1 == 0 { Direction::FromClient } else { Direction::FromServer };
        assert_eq!(whole.hear(from, line, line.len()), cut.hear(from, line, 1), "byte by byte");
    }
    assert_eq!(whole.tracker.late_responses(), cut.tracker.late_responses());
    Corpus::Keep
});
