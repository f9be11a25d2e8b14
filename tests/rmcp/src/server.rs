//! A server on the official Rust SDK whose tools leave marks that can be counted: `server MODE FOLDER`, with the mode `bare`
//! or the name of a policy of the gate.
//!
//! Every call of a tool adds a byte to a file in the folder, which is named by the argument `text`, or by the tool where there
//! is none.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use linegate::Policy;
use linegate_host::Session;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{QuitReason, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Adds a byte to the file of that name.
    fn mark(&self, name: &str) {
        let name: String = name.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
        let file = OpenOptions::new().create(true).append(true).open(self.folder.join(name));
        file.and_then(|mut file| file.write_all(b"x")).expect("the folder can be written");
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = [("type".to_owned(), "object".into())].into_iter().collect();
        let schema = Arc::new(schema);
        let tool = |name: &'static str, text: &'static str| Tool::new(name, text, Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(vec![
            tool("record", "Leaves a mark."),
            tool("print", "Prints in three ways."),
            tool("wait", "Waits until it is cancelled, and leaves a mark then."),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.as_ref().and_then(|arguments| arguments.get("text")?.as_str());
        let name = text.unwrap_or(&request.name);
        match &*request.name {
            "print" => print(),
            "wait" => context.ct.cancelled().await,
            _ => {}
        }
        self.mark(name);
        Ok(CallToolResult::success(vec![ContentBlock::text(name)]).into())
    }
}

#[allow(clippy::print_stdout, reason = "what a tool should not do")]
fn print() {
    println!("printed by rust");
    print!("printed without a line feed");
    let echo = Command::new("sh").args(["-c", "echo printed by a child process"]).status();
    assert!(echo.is_ok_and(|status| status.success()));
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (mode, folder) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    let tools = Tools { folder: folder.into() };
    let policy = match &*mode {
        "bare" => {
            tools.serve(rmcp::transport::stdio()).await?.waiting().await?;
            return Ok(());
        }
        "close_all" => Policy::CloseAll,
        "close_malformed" => Policy::CloseMalformed,
        "continue" => Policy::Continue,
        other => return Err(format!("no mode {other}").into()),
    };
    let mut session = Session::new()?;
    session.client.policy = policy;

    // The two lines of the README.
    let (_guard, stdio) = session.stdio_async()?;
    let service = tools.serve(stdio).await?;

    match service.waiting().await? {
        QuitReason::Closed => Ok(()),
        other => Err(format!("the service ended otherwise: {other:?}").into()),
    }
}
