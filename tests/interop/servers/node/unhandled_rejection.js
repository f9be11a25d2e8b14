// A handler of forgotten errors that prints them where the answers go.
"use strict";
const { serve, work } = require("./serve");

process.on("unhandledRejection", (error) => console.log("Unhandled rejection:", error.message));
const tool = (params) => {
  Promise.reject(new Error("connect ECONNREFUSED 127.0.0.1:5432"));
  return work(params);
};
serve({ tool });
