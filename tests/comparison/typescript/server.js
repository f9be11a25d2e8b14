// A minimal server on the official TypeScript SDK, as its README has it; its one tool writes a file.
import { writeFileSync } from "node:fs";

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "comparison", version: "1.0.0" });
const inputSchema = { path: z.string(), text: z.string() };
server.registerTool("write", { description: "Writes the text into the file.", inputSchema }, ({ path, text }) => {
  writeFileSync(path, text);
  return { content: [{ type: "text", text }] };
});
await server.connect(new StdioServerTransport());
