// A banner between the halves of one answer: the answer is written in two pieces, and something prints between them.
"use strict";
const reply = (message) => {
  const line = JSON.stringify(message) + "\n";
  const half = line.indexOf(",") + 1;
  process.stdout.write(line.slice(0, half));
  if (message.result?.content) process.stdout.write("cache warmed up\n");
  process.stdout.write(line.slice(half));
};
require("./serve").serve({ reply });
