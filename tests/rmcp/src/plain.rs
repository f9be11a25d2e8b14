//! A minimal server on the official Rust SDK, without a gate; its one tool writes a file.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

struct Writer;

impl ServerHandler for Writer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new([("type".to_owned(), "object".into())].into_iter().collect());
        Ok(ListToolsResult::with_all_items(vec![Tool::new("write", "Writes the text into the file.", schema)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = |name: &str| arguments.get(name)?.as_str();
        let (Some(path), Some(text)) = (text("path"), text("text")) else {
            return Err(ErrorData::invalid_params("path or text is no string", None));
        };
        std::fs::write(path, text).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Writer.serve(rmcp::transport::stdio()).await {
        // The input ended before a session began, which is no error of the server's.
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        service => _ = service?.waiting().await?,
    }
    Ok(())
}
