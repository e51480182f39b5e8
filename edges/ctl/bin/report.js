#!/usr/bin/env node
// `report nav …` is `ctl report nav …`: the same program under the name of its reports.
process.argv.splice(2, 0, "report");
await import("./ctl.js");
