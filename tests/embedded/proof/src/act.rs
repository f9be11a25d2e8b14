//! A device with three actions: a message's whole way to an effect, with arguments of every kind that a device needs.

use linegate::action::{
    Action, Actions, Audit, Authorize, Authorized, Denial, Entry, Execute, Execution, Handled, Json, Misfit, Origin,
    Outcome, RawArguments, Structured, Target, Text, Wire,
};
use linegate::{Message, Record, Switch, Switches};
use serde::Deserialize;

/// Arguments with integers, a boolean, borrowed strings, a struct in a struct, and an enum.
#[derive(Deserialize)]
pub struct Valve<'a> {
    name: &'a str,
    percent: u8,
    offset: i32,
    force: Option<bool>,
    window: Window,
    mode: Mode<'a>,
}

#[derive(Deserialize)]
struct Window {
    from: u64,
    to: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode<'a> {
    Slow,
    Steps(u16),
    Ramp { seconds: u32 },
    Program(&'a str, i64),
}

pub struct OpenValve;
impl Action for OpenValve {
    const TARGET: Target<'static> = Target::Tool("open_valve");
    type Arguments<'a> = Valve<'a>;
    fn read<'a>(arguments: RawArguments<'a>) -> Result<Valve<'a>, Misfit<'a>> {
        arguments.typed()
    }
}

pub struct Report;
impl Action for Report {
    const TARGET: Target<'static> = Target::Tool("report");
    type Arguments<'a> = Words<'a>;
    fn read<'a>(arguments: RawArguments<'a>) -> Result<Words<'a>, Misfit<'a>> {
        arguments.typed()
    }
}

#[derive(Deserialize)]
pub struct Words<'a> {
    text: &'a str,
    letter: char,
    pair: (bool, i8),
}

pub struct Reset;
impl Action for Reset {
    const TARGET: Target<'static> = Target::Method("device/reset");
    type Arguments<'a> = Span;
    fn read(arguments: RawArguments<'_>) -> Result<Span, Misfit<'_>> {
        arguments.typed()
    }
}

#[derive(Deserialize)]
pub struct Span(Window);

/// Who may do what.
pub struct Limit(u8);

impl Authorize<OpenValve> for Limit {
    fn authorize(&self, origin: &Origin<'_>, valve: &Valve<'_>) -> Result<(), Denial> {
        let known = origin.revision().is_some() || origin.id().is_some_and(|id| !id.is_empty());
        if known && valve.percent <= self.0 { Ok(()) } else { Err(Denial::because("above the limit")) }
    }
}

impl Authorize<Report> for Limit {
    fn authorize(&self, _: &Origin<'_>, words: &Words<'_>) -> Result<(), Denial> {
        if words.text.len() < 80 { Ok(()) } else { Err(Denial::because("too long").with_rpc_code(-32001)) }
    }
}

impl Authorize<Reset> for Limit {
    fn authorize(&self, _: &Origin<'_>, window: &Span) -> Result<(), Denial> {
        if window.0.from < window.0.to { Ok(()) } else { Err(Denial::because("empty")) }
    }
}

/// Who does it.
pub struct Plant {
    sum: u64,
}

impl Execute<OpenValve> for Plant {
    type Output = Text<&'static str>;
    type Error = &'static str;
    fn execute(&mut self, action: Authorized<'_, OpenValve>) -> Result<Self::Output, Self::Error> {
        let Valve { name, percent, offset, force, window, mode } = action.open();
        if name != "north" {
            return Err("there is no such valve");
        }
        let mode = match mode {
            Mode::Slow => 0,
            Mode::Steps(steps) => u64::from(steps),
            Mode::Ramp { seconds } => u64::from(seconds),
            Mode::Program(name, times) => times.unsigned_abs().wrapping_add(name.len() as u64),
        };
        let force = u64::from(force.unwrap_or_default());
        for part in [u64::from(percent), u64::from(offset.unsigned_abs()), force, window.from, window.to, mode] {
            self.sum = self.sum.wrapping_add(part);
        }
        Ok(Text("done"))
    }
}

impl Execute<Report> for Plant {
    type Output = Structured<&'static str>;
    type Error = &'static str;
    fn execute(&mut self, action: Authorized<'_, Report>) -> Result<Self::Output, Self::Error> {
        let Words { text, letter, pair } = action.open();
        if text.starts_with(letter) == pair.0 && pair.1 > 0 {
            Ok(Structured("{\"known\":true}"))
        } else {
            Err("unknown")
        }
    }
}

impl Execute<Reset> for Plant {
    type Output = Json<&'static str>;
    type Error = &'static str;
    fn execute(&mut self, action: Authorized<'_, Reset>) -> Result<Self::Output, Self::Error> {
        self.sum = action.open().0.to;
        Ok(Json("{}"))
    }
}

/// Counts what it is told.
pub struct Count(u64);

impl Audit for Count {
    fn refused(&mut self, record: &Record) {
        self.0 = self.0.wrapping_add(record.sequence);
    }
    fn authorized(&mut self, execution: &Execution) {
        self.0 = self.0.wrapping_add(execution.fingerprint.get() as u64);
    }
    fn ended(&mut self, _: &Execution, outcome: Outcome) {
        self.0 = self.0.wrapping_add(outcome.name().len() as u64);
    }
}

/// A wire that keeps nothing but the length.
struct Pin(usize);

impl Wire for Pin {
    fn send(&mut self, line: &[u8]) -> bool {
        self.0 = self.0.wrapping_add(line.len());
        true
    }
}

const TABLE: &[Entry<Limit, Plant>] = &[Entry::of::<OpenValve>(), Entry::of::<Report>(), Entry::of::<Reset>()];

pub type Device = Actions<Limit, Plant, Count>;

pub fn device(limit: u8) -> Option<Device> {
    let actions = Actions::new(TABLE, Limit(limit), Plant { sum: 0 }, Count(0)).ok()?;
    Some(actions.with_granted(Switches::NONE.with(Switch::BigIntegers)))
}

/// A number in which everything that came of a message has a part.
pub fn act(device: &mut Device, message: Message<'_>, room: &mut [u8], out: &mut [u8]) -> u64 {
    let mut pin = Pin(0);
    let became = match device.handle(message, room, out, &mut pin) {
        Handled::Message(message) => message.bytes().len() as u64,
        Handled::Refused(record) => u64::from(record.code.number()),
        Handled::Executed(execution, outcome) => (execution.target.name().len() + outcome.name().len()) as u64,
        _ => 0,
    };
    let counted = device.journal().executed().wrapping_add(device.journal().failed()).wrapping_add(device.audit().0);
    became.wrapping_add(counted).wrapping_add(device.executor().sum).wrapping_add(pin.0 as u64)
}
