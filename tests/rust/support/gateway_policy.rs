//! The example gateway, its code as it ships, under the policy that is asked for; at its end it tells what it counted.
//!
//! `gateway_policy CONFIG AUDIT POLICY`; the counts are a line of JSON on stderr.

use std::error::Error;

/// The example, and what can be done only inside of it: its items are its own.
#[allow(dead_code, reason = "the example's own beginning is replaced")]
mod shipped {
    include!(concat!(env!("OUT_DIR"), "/gateway.rs"));

    pub fn run(config: &str, audit: &str, policy: Policy) -> Result<Value, Box<dyn Error>> {
        let Config { rules, gateway } = serde_json::from_slice(&fs::read(config)?)?;
        let mut actions = Actions::new(TOOLS, rules, gateway, AuditFile::append(audit)?)?;
        let mut options = Options::new(Direction::FromClient, random_key()?);
        (options.policy, options.revision) = (policy, Revision::V2025_11_25);
        let served = Session::of(options).serve(&mut actions, other, io::stdin(), io::stdout())?;
        Ok(json!({
            "accepted": served.client.accepted,
            "refused": served.client.refused_total(),
            "refused_actions": served.client.refused(linegate::Stage::Action),
            "replies": served.client.replies,
            "sent": served.server.accepted,
            "withheld": served.server.refused_total(),
            "executed": actions.journal().executed(),
            "failed": actions.journal().failed(),
            "lost": actions.audit().lost(),
        }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    use std::io::Write as _;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, audit, policy] = arguments.as_slice() else { return Err("CONFIG AUDIT POLICY".into()) };
    let policy = match policy.as_str() {
        "close_all" => linegate::Policy::CloseAll,
        "close_malformed" => linegate::Policy::CloseMalformed,
        "continue" => linegate::Policy::Continue,
        other => return Err(format!("{other} is no policy").into()),
    };
    let counts = shipped::run(config, audit, policy)?;
    writeln!(std::io::stderr(), "{counts}")?;
    Ok(())
}
