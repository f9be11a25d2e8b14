// A retry that sends an answer again though the first has arrived.
"use strict";
const { send, serve } = require("./serve");

const reply = (message) => {
  send(message);
  if (message.result?.content) send(message);
};
serve({ reply });
