//! A program of the core and nothing else: no std, no main, no libc, no heap. It feeds a short session from a static gate's
//! storage and leaves with status 0 if every verdict is the right one, else with the number of the step that went wrong.
//! Linux on x86-64.

#![no_std]
#![no_main]

use core::arch::{asm, naked_asm};
use core::panic::PanicInfo;

use linegate::{AuditKey, Code, Direction, Event, Fed, Gate, Inline, Options, REPLY_LEN};

#[cfg(feature = "planted-alloc")]
extern crate alloc;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(255)
}

/// Where the kernel begins: aligns the stack and goes on in Rust.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!("and rsp, -16", "call {run}", "ud2", run = sym run);
}

fn exit(status: i32) -> ! {
    // SAFETY: the system call `exit`, which doesn't come back.
    unsafe { asm!("syscall", in("rax") 60, in("rdi") status, options(noreturn)) }
}

extern "C" fn run() -> ! {
    exit(session().err().unwrap_or(0))
}

fn session() -> Result<(), i32> {
    #[cfg(feature = "planted-alloc")]
    core::hint::black_box(alloc::vec![0_u8; 8]);

    let options = Options::new(Direction::FromClient, AuditKey::new([7; 16]));
    let mut gate = Gate::new(options, Inline::<256, 64>::new()).map_err(|_| 1)?;

    let piece = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi";
    let Fed { consumed, event } = gate.feed(piece);
    step(2, consumed == piece.len() && matches!(event, Event::NeedMore))?;
    let Fed { consumed, event } = gate.feed(b"ng\"}\n{");
    let Event::Message(message) = event else { return Err(3) };
    step(4, consumed == 5 && message.method() == Some("ping") && message.id() == Some(b"1".as_slice()))?;

    let Event::Refused(refusal) = gate.feed(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"id\":3}\n").event else { return Err(5) };
    step(6, refusal.code() == Code::DuplicateKey)?;
    let mut reply = [0; REPLY_LEN];
    let len = refusal.write_reply(&mut reply).map_err(|_| 7)?;
    step(8, reply.get(..len).is_some_and(|line| line.ends_with(b"\n")))?;

    step(9, matches!(gate.feed(b"{}\n").event, Event::Closed))?;
    gate.reset();
    step(10, matches!(gate.feed(b"{").event, Event::NeedMore))?;
    let Event::Refused(refusal) = gate.finish() else { return Err(11) };
    step(12, refusal.code() == Code::Truncated)
}

const fn step(number: i32, holds: bool) -> Result<(), i32> {
    if holds { Ok(()) } else { Err(number) }
}
