// How long does the charting platform wait for its answer? Against an empty POST to a bare server and one commit of the same size on the same database, in
// turns, in the same run: what the webhook adds (checks, judgement, two hops between processes) is its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import pg from "pg";
import { eventually, type Platform, pause, startPlatform } from "../../testkit/platform.ts";
import { alertWith, sendAlert, writeFundSecrets } from "../../testkit/webhook-sender.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { median } from "../bus/contender.ts";
import { repository } from "../ctl-start.ts";

const ratioMax = 3;
const p99MsMax = 300;
const secret = "a-secret-for-the-bench-0123456789";
const funds = [
  { fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "NASDAQ:AAPL" },
  { fund_id: "beta", strategy_id: "beta-trend", symbol: "COINBASE:BTCUSD", quantity: "0.001" },
  { fund_id: "gamma", strategy_id: "gamma-income", symbol: "SPY" },
] as const;
/** Thirty a second over three funds: each stays within its ten. */
const everyMs = 36;

export const webhook: Bench = {
  name: "webhook",
  sentence: "How long an alert waits for its answer, against an empty POST and a commit.",
  run: (progress) => runWebhook({ alerts: 300 }, progress),
};

const bareServer =
  "const s=require('node:http').createServer((q,a)=>{q.resume();q.on('end',()=>a.writeHead(202).end('{}'))});s.listen(0,'127.0.0.1',()=>console.log(s.address().port))";

export async function runWebhook(
  { alerts }: { readonly alerts: number },
  progress: (line: string) => void,
): Promise<BenchResult> {
  const platform = startPlatform({ root: repository(), environment: { PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1" } });
  const bare = spawn(process.execPath, ["-e", bareServer], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await platform.ready();
    await writeFundSecrets(platform, Object.fromEntries(funds.map(({ fund_id }) => [fund_id, secret])));
    await eventually("alerts are taken", () => isTaken(platform), 30_000);
    return await measure(platform, await portOf(bare), alerts, progress);
  } finally {
    bare.kill();
    await platform.end();
  }
}

async function measure(
  platform: Platform,
  port: number,
  alerts: number,
  progress: (line: string) => void,
): Promise<BenchResult> {
  const { host, port: databasePort, name } = platform.runFile().database;
  const database = new pg.Client({ host, port: databasePort, database: name, user: "portcullis_app" });
  await database.connect();
  const took = { empty: [] as number[], commit: [] as number[], webhook: [] as number[] };
  try {
    const url = `http://127.0.0.1:${port}/`;
    const body = alertWith(secret);
    for (let index = -30; index < alerts; index += 1) {
      const dueAt = performance.now() + everyMs;
      const one = {
        empty: await timed(async () => void (await (await fetch(url, { method: "POST", body })).text())),
        commit: await timed(() => commit(database)),
        webhook: await timed(async () => {
          const { status, body: said } = await sendAlert(
            platform,
            alertWith(secret, funds[(index + 30) % funds.length]),
          );
          if (status !== 202) throw new Error(`an alert was answered ${status}: ${String(said["detail"])}`);
        }),
      };
      // The first ones warm everything up.
      if (index >= 0) for (const key of ["empty", "commit", "webhook"] as const) took[key].push(one[key]);
      if (index % 100 === 0) progress(`${index} of ${alerts} alerts`);
      await pause(Math.max(0, dueAt - performance.now()));
    }
  } finally {
    await database.end();
  }
  return resultOf(took);
}

/** A platform that has just started learns its strategies a moment later. */
async function isTaken(platform: Platform): Promise<boolean> {
  const sent = await Promise.all(funds.map((fund) => sendAlert(platform, alertWith(secret, fund))));
  await pause(1_100);
  return sent.every(({ status }) => status === 202);
}

/** What a transaction of the database costs that has to reach the disk: a message is written to its log. */
async function commit(database: pg.Client): Promise<void> {
  await database.query("select pg_logical_emit_message(true, 'bench', repeat('x', 2000))");
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function portOf({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error("the bare server says nothing");
  const [line] = (await once(createInterface({ input: stdout }), "line")) as [string];
  return Number(line);
}

function resultOf(took: Readonly<Record<"empty" | "commit" | "webhook", readonly number[]>>): BenchResult {
  const sorted = [...took.webhook].sort((one, other) => one - other);
  const figures = {
    empty_post_p50_ms: rounded(median(took.empty)),
    commit_p50_ms: rounded(median(took.commit)),
    webhook_p50_ms: rounded(median(took.webhook)),
    webhook_p99_ms: rounded(sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN),
    ratio: rounded(median(took.webhook) / (median(took.empty) + median(took.commit))),
  };
  const shortfalls = [
    ...(figures.ratio <= ratioMax ? [] : [`${figures.ratio} times an empty POST and a commit; ${ratioMax} is the aim`]),
    ...(figures.webhook_p99_ms < p99MsMax ? [] : [`p99 ${figures.webhook_p99_ms} ms; under ${p99MsMax} is the aim`]),
  ];
  const table = Object.entries(figures).map(([name, value]) => `${name.padEnd(20)}${value}`);
  return { figures, table: table.join("\n"), shortfalls };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
