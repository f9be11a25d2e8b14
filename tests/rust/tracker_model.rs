//! The tracker against a model of it: random lines of both sides go to two gates that share a tracker and to the model, and
//! after each of them both must say and remember the same.
//!
//! `LINEGATE_RUNS` is the number of sessions, `LINEGATE_SEED` the first one's seed. A difference is shown as a transcript
//! from which no line can be left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::{env, thread};

use linegate::{
    AuditKey, Direction, Event, Fed, Gate, Inline, Options, Policy, REPLY_LEN, Refusal, Revision, Slot, Tracker,
};

#[path = "support/session_model.rs"]
mod model;
#[path = "support/session_random.rs"]
mod random;
#[path = "support/session_steps.rs"]
mod steps;

use model::{Model, Reply, Verdict};
use random::Manner;
use steps::{Ask, Dice, Name, Says, Side, Step, Version};

/// What is compared after each line.
#[derive(Debug, PartialEq, Eq)]
struct State {
    /// None of a line that was kept from this side of the comparison.
    verdict: Option<Verdict>,
    /// Of the client, of the server.
    in_flight: [usize; 2],
    late_responses: u64,
}

/// The gates of both sides and their tracker.
struct Real {
    client: Gate<Inline<1024, 128>>,
    server: Gate<Inline<1024, 128>>,
    tracker: Tracker<Vec<Slot>>,
}

impl Real {
    fn new(fixed: Option<Version>, table: usize) -> Self {
        let revision = fixed.map_or(Revision::AUTO, |version| Revision::from_name(version.name()).unwrap());
        let [client, server] = [Direction::FromClient, Direction::FromServer].map(|direction| {
            let mut options = Options::new(direction, AuditKey::new(*b"sixteen random b"));
            options.revision = revision;
            options.policy = Policy::Continue;
            options.limits.max_replies = u32::MAX;
            options
        });
        Self {
            tracker: Tracker::new(&client, &server, vec![Slot::EMPTY; 4 * table]).unwrap(),
            client: Gate::new(client, Inline::new()).unwrap(),
            server: Gate::new(server, Inline::new()).unwrap(),
        }
    }

    fn hear(&mut self, step: &Step) -> Verdict {
        let line = step.line();
        let gate = if step.from == Side::Client { &mut self.client } else { &mut self.server };
        let Fed { consumed, event } = gate.feed_with(line.as_bytes(), &mut self.tracker);
        assert_eq!(consumed, line.len());
        match event {
            Event::Message(_) => Verdict { code: None, rpc_code: None, reply: Reply::None, settles: false },
            Event::Refused(refusal) => {
                let id = step.id().map(|id| id.written.as_bytes());
                assert!(refusal.settles().is_none_or(|settles| Some(settles) == id), "another id is settled: {line}");
                Verdict {
                    code: Some(refusal.code().number()),
                    rpc_code: refusal.rpc_code(),
                    reply: reply(&refusal, id),
                    settles: refusal.settles().is_some(),
                }
            }
            other => panic!("{other:?} of {line}"),
        }
    }

    fn state(&self, verdict: Option<Verdict>) -> State {
        State {
            verdict,
            in_flight: [Direction::FromClient, Direction::FromServer].map(|from| self.tracker.in_flight(from)),
            late_responses: self.tracker.late_responses(),
        }
    }
}

fn reply(refusal: &Refusal<'_>, id: Option<&[u8]>) -> Reply {
    let mut line = [0; REPLY_LEN];
    let len = refusal.write_reply(&mut line).unwrap();
    let line = &line[..len];
    let says = |member: &[u8]| line.windows(member.len()).any(|window| window == member);
    match refusal.id().filter(|_| len > 0) {
        _ if len == 0 => Reply::None,
        Some(echoed) => {
            assert_eq!(Some(echoed), id, "another id is echoed");
            Reply::WithId
        }
        None if says(br#""id":null"#) => Reply::Null,
        None => {
            assert!(!says(br#""id":"#));
            Reply::Absent
        }
    }
}

/// A fault planted on one side of the comparison, to see that it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plant {
    None,
    /// No cancel reaches the tracker.
    CancelsLost,
    /// One response never reaches the tracker.
    ResponseLost,
    /// The model says of no refused response that it settles a request.
    NothingSettled,
    /// The model takes `"7"` for 7.
    TypesMixed,
    /// The model takes `"\u0061"` for something else than `"a"`.
    EscapesKept,
    /// The model's ring is one shorter.
    ShortRing,
    /// The model's ring is one longer.
    LongRing,
    /// The model's table is one larger.
    LargeTable,
    /// The model takes a subscription for open before it was acknowledged.
    OpenAtOnce,
    /// The model forgets that a request is a task.
    TasksForgotten,
}

/// Both sides of the comparison.
struct Pair {
    real: Real,
    model: Model,
    plant: Plant,
    responses: usize,
}

impl Pair {
    fn new(manner: &Manner, plant: Plant) -> Self {
        let (table, ring) = match plant {
            Plant::ShortRing => (manner.table, manner.table - 1),
            Plant::LongRing => (manner.table, manner.table + 1),
            Plant::LargeTable => (manner.table + 1, manner.table),
            _ => (manner.table, manner.table),
        };
        Self {
            real: Real::new(manner.fixed, manner.table),
            model: Model::new(manner.fixed, table, ring),
            plant,
            responses: 0,
        }
    }

    /// What the tracker and the model come to with this line.
    fn hear(&mut self, step: &Step) -> [State; 2] {
        let mut modelled = self.model.hear(&self.as_modelled(step));
        if let (Plant::OpenAtOnce, Says::Ask(id, Ask { method: "subscriptions/listen", .. })) = (self.plant, &step.says)
        {
            let method = "notifications/subscriptions/acknowledged";
            self.model.hear(&Step { from: Side::Server, says: Says::Note { method, tag: Some(id.clone()) } });
        }
        modelled.settles &= self.plant != Plant::NothingSettled;
        self.responses += usize::from(matches!(step.says, Says::Answer(..)));
        let lost = match self.plant {
            Plant::CancelsLost => matches!(step.says, Says::Cancel(_)),
            Plant::ResponseLost => matches!(step.says, Says::Answer(..)) && self.responses == 10,
            _ => false,
        };
        let real = (!lost).then(|| self.real.hear(step));
        let modelled = State {
            verdict: (!lost).then_some(modelled),
            in_flight: Side::BOTH.map(|side| self.model.requests(side).in_flight.len()),
            late_responses: self.model.late_responses,
        };
        [self.real.state(real), modelled]
    }

    /// The line as the model hears it.
    fn as_modelled(&self, step: &Step) -> Step {
        let rename: fn(&mut Name) = match self.plant {
            Plant::TypesMixed => |name| name.meant = format!("\"{}\"", name.meant.trim_matches('"')),
            Plant::EscapesKept => |name| name.meant.clone_from(&name.written),
            _ => |_| (),
        };
        let mut step = step.clone();
        match &mut step.says {
            Says::Ask(id, ask) => {
                ask.task &= self.plant != Plant::TasksForgotten;
                rename(id);
                ask.token.as_mut().map(rename);
            }
            Says::Answer(id, _) | Says::Cancel(id) => {
                id.as_mut().map(rename);
            }
            Says::Progress { token, tag } => {
                rename(token);
                tag.as_mut().map(rename);
            }
            Says::Note { tag, .. } => {
                tag.as_mut().map(rename);
            }
            Says::CutOff => {}
        }
        step
    }
}

/// How often each code was said; 0 stands for accepted lines.
type Tally = BTreeMap<u16, u64>;

/// Runs a session of this seed; gives what was said, or the lines up to the first difference.
fn run(seed: u64, plant: Plant) -> Result<Tally, (Manner, Vec<Step>)> {
    let mut dice = Dice(seed);
    let manner = Manner::any(&mut dice);
    let mut pair = Pair::new(&manner, plant);
    let (mut said, mut tally) = (Vec::new(), Tally::new());
    while said.len() < manner.steps {
        let step = manner.next(&mut dice, &pair.model);
        let [real, modelled] = pair.hear(&step);
        said.push(step);
        if real != modelled {
            return Err((manner, said));
        }
        let code = real.verdict.and_then(|verdict| verdict.code).unwrap_or(0);
        *tally.entry(code).or_default() += 1;
    }
    Ok(tally)
}

/// The place of the first difference in these lines.
fn differs(manner: &Manner, steps: &[Step], plant: Plant) -> Option<usize> {
    let mut pair = Pair::new(manner, plant);
    steps.iter().position(|step| {
        let [real, modelled] = pair.hear(step);
        real != modelled
    })
}

/// The same lines up to a difference, without those that it can do without: ever smaller pieces are left out.
fn shortest(manner: &Manner, mut steps: Vec<Step>, plant: Plant) -> Vec<Step> {
    let mut piece = steps.len();
    while piece > 0 {
        let mut end = steps.len();
        while end > 0 {
            let start = end.saturating_sub(piece);
            let mut fewer = steps.clone();
            fewer.drain(start..end);
            if let Some(last) = differs(manner, &fewer, plant) {
                fewer.truncate(last + 1);
                steps = fewer;
            }
            end = start.min(steps.len());
        }
        piece /= 2;
    }
    steps
}

/// A session as a transcript, with what both sides said of its last line.
fn transcript(seed: u64, manner: &Manner, steps: &[Step], plant: Plant) -> String {
    let revision = manner.fixed.map_or("auto", Version::name);
    let mut text = format!("seed {seed}, revision {revision}, max_ids {}\n", manner.table);
    let mut pair = Pair::new(manner, plant);
    for step in steps {
        let [real, modelled] = pair.hear(step);
        write!(text, "{:?} {}", step.from, step.line()).unwrap();
        if real == modelled {
            writeln!(text, "    {:?}", real.verdict.and_then(|verdict| verdict.code)).unwrap();
        } else {
            writeln!(text, "    tracker {real:?}\n    model   {modelled:?}").unwrap();
        }
    }
    text
}

/// A number that the environment may set.
fn setting(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |number| number.parse().unwrap())
}

#[test]
fn tracker_and_model_agree() {
    let first = setting("LINEGATE_SEED", 0);
    let seeds = first..first + setting("LINEGATE_RUNS", 2000);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let tally = Mutex::new(Tally::new());
    thread::scope(|scope| {
        for worker in 0..threads {
            let (seeds, tally) = (seeds.clone(), &tally);
            scope.spawn(move || {
                for seed in seeds.skip(worker).step_by(threads) {
                    let of_one = run(seed, Plant::None).unwrap_or_else(|(manner, said)| {
                        let said = shortest(&manner, said, Plant::None);
                        panic!("{}", transcript(seed, &manner, &said, Plant::None))
                    });
                    let mut tally = tally.lock().unwrap();
                    for (code, times) in of_one {
                        *tally.entry(code).or_default() += times;
                    }
                }
            });
        }
    });
    let (sessions, tally) = (seeds.end - seeds.start, tally.into_inner().unwrap());
    println!("{sessions} sessions, {} lines: {tally:?}", tally.values().sum::<u64>());
    // Agreement is worth something only where there was something to say.
    if sessions >= 500 {
        assert!(model::STAGES.iter().all(|code| tally.get(code).is_some_and(|times| *times >= 20)));
    }
}

/// A comparison that finds nothing proves nothing.
#[test]
fn planted_faults_are_found() {
    for plant in [
        Plant::CancelsLost,
        Plant::ResponseLost,
        Plant::NothingSettled,
        Plant::TypesMixed,
        Plant::EscapesKept,
        Plant::ShortRing,
        Plant::LongRing,
        Plant::LargeTable,
        Plant::OpenAtOnce,
        Plant::TasksForgotten,
    ] {
        let found = (0..100).find_map(|seed| run(seed, plant).err().map(|(_, said)| (seed + 1, said.len())));
        let (session, line) = found.unwrap_or_else(|| panic!("{plant:?} is never found"));
        println!("{plant:?}: found in session {session}, line {line}");
    }
}

#[test]
fn few_lines_show_a_difference() {
    let plant = Plant::CancelsLost;
    let (manner, said) = (1..100).find_map(|seed| run(seed, plant).err()).unwrap();
    let said = shortest(&manner, said, plant);
    assert!(said.len() <= 4, "{}", transcript(0, &manner, &said, plant));
}
