// An MCP server over stdio in its smallest form; what the servers beside this file have in common. It is clean: nothing but
// answers on stdout, a word on stderr for each request, status 0 at the end of input.
"use strict";

const TOOL = { name: "work", inputSchema: { type: "object", properties: { text: { type: "string" } } } };

const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

const work = (params) => String(params.text ?? "");

function answer(message, tool) {
  const { method, params = {} } = message;
  const info = { name: "fault", version: "1" };
  if (method === "initialize") {
    return { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: info } };
  }
  if (method === "ping") return { result: {} };
  if (method === "tools/list") return { result: { tools: [TOOL] } };
  if (method === "tools/call") {
    return { result: { content: [{ type: "text", text: tool(params.arguments ?? {}) }] } };
  }
  return { error: { code: -32601, message: "Method not found" } };
}

// `ends` is what happens at the end of input.
function serve({ tool = work, reply = send, before = () => {}, ends = () => {} } = {}) {
  process.stdout.on("error", () => process.exit(0));
  const lines = require("node:readline").createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      console.error("not a message");
      return;
    }
    if (message?.id === undefined || message.id === null || message.method === undefined) return;
    console.error("request", message.method);
    before(message.method);
    reply({ jsonrpc: "2.0", id: message.id, ...answer(message, tool) });
  });
  lines.on("close", ends);
}

module.exports = { send, serve, work };
