// Clean: everything that console says goes to stderr, and so does a child's stdout.
"use strict";
const { spawnSync } = require("node:child_process");
const { serve, work } = require("./serve");

globalThis.console = new console.Console(process.stderr, process.stderr);
console.log("listening on stdio");
const tool = (params) => {
  console.info("in the tool");
  spawnSync("echo", ["by a child"], { stdio: ["ignore", 2, 2] });
  return work(params);
};
serve({ tool, ends: () => console.log("bye") });
