// `npm run bench -- <name> [--json]`: runs one benchmark. Talk goes to stderr; with --json the last line of stdout is one JSON object.
// A bench compares with the same work done by hand in the same run and fails when it falls below what was promised.
import { parseArgs } from "node:util";
import { messageOf } from "../contracts/src/fault.ts";
import { audit } from "./audit/audit.ts";
import type { Bench } from "./bench.ts";
import { bus } from "./bus/bus.ts";
import { checkOrder } from "./check-order/check-order.ts";
import { ctlStart } from "./ctl-start.ts";
import { halt } from "./halt/halt.ts";
import { idle } from "./idle/idle.ts";
import { marketData } from "./market-data/market-data.ts";
import { replay } from "./replay/replay.ts";
import { reports } from "./reports/reports.ts";
import { siege } from "./siege/siege.ts";
import { verify } from "./verify/verify.ts";
import { watchdogs } from "./watchdogs/watchdogs.ts";
import { web } from "./web/web.ts";
import { webhook } from "./webhook/webhook.ts";
import { widest } from "./widest/widest.ts";

const benches: readonly Bench[] = [
  audit,
  bus,
  checkOrder,
  ctlStart,
  halt,
  idle,
  marketData,
  replay,
  reports,
  siege,
  verify,
  watchdogs,
  web,
  webhook,
  widest,
];

export async function main(argv: readonly string[]): Promise<number> {
  const asked = readArguments(argv);
  const bench = benches.find((candidate) => candidate.name === asked?.name);
  if (asked === undefined || bench === undefined) {
    const known = benches.map(({ name, sentence }) => `  ${name.padEnd(14)}${sentence}`).join("\n");
    process.stderr.write(`Usage: npm run bench -- <name> [--json]\n\n${known}\n`);
    return 2;
  }
  try {
    const result = await bench.run((line) => process.stderr.write(`${line}\n`));
    process.stderr.write(`\n${result.table}\n`);
    for (const shortfall of result.shortfalls) process.stderr.write(`below what was promised: ${shortfall}\n`);
    if (asked.json) process.stdout.write(`${JSON.stringify(result.figures)}\n`);
    return result.shortfalls.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`the bench could not run: ${messageOf(error)}\n`);
    return 1;
  }
}

function readArguments(argv: readonly string[]): { name: string | undefined; json: boolean } | undefined {
  try {
    const { positionals, values } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { json: { type: "boolean", default: false } },
    });
    return { name: positionals[0], json: values.json };
  } catch {
    // A flag that does not exist: the usage says which do.
    return undefined;
  }
}
