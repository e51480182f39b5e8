// How long does one request keep a process from everybody else? Every route of both ports is sent the widest body that its description takes, one after the
// other, and every stretch of processor time that a loop gave to one of them is written down (loop-watch.js). A halt waits for no more than one such stretch of
// each process on its way.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isRole, mayCall, type Operation } from "../../contracts/src/authority.ts";
import { type FuzzedOperation, operationsOf } from "../../testkit/fuzz/documents.ts";
import { legalBodies, operationByRoute } from "../../testkit/hostile/legal-body.ts";
import { fetchOnNewConnection } from "../../testkit/http/fetch-on-new-connection.ts";
import { developmentOperator, issueServiceToken, logInAs, operatorUrl } from "../../testkit/login.ts";
import { type Platform, pause, startPlatform, temporaryFolder } from "../../testkit/platform.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { repository } from "../ctl-start.ts";
import { longestIn } from "./longest-in.ts";
import { widestBody } from "./widest-body.ts";

/** The promise: what takes longer leaves the loop, or is cut into slices. */
const taskMsMax = 20;
/** The shortest of so many longest stretches: what else a process does now and then is none of the request's. */
const times = 3;
/** What a request causes may come after its answer. */
const afterMs = 60;
const answerMsMax = 30_000;
/** They end the caller's own login, or the services: asked last, in this order. */
const last = ["revokeSessions", "disableOperator", "logOut", "restartServices"];

export const widest: Bench = {
  name: "widest",
  sentence: "How long the widest legal body of each route keeps a process from everybody else.",
  run: (progress) => runWidest(progress),
};

interface WidestRow {
  readonly route: string;
  readonly body_bytes: number;
  readonly status: number;
  /** By service; those that were not busy for 2 ms are absent. */
  readonly longest_task_ms: Readonly<Record<string, number>>;
}

async function runWidest(progress: (line: string) => void): Promise<BenchResult> {
  const folder = temporaryFolder("widest");
  const watched = join(folder, "loops");
  mkdirSync(watched);
  const watch = pathToFileURL(join(repository(), "bench", "widest", "loop-watch.js")).href;
  const environment = {
    NODE_OPTIONS: `--import ${watch}`,
    LOOP_WATCH_FOLDER: watched,
    PORTCULLIS_PUBLIC_RATE_PER_S: "0",
  };
  progress("starting a platform whose loops are watched");
  const platform = startPlatform({ root: repository(), environment, funds: "as configured" });
  try {
    await platform.ready();
    const rows = await askAll(platform, watched, progress);
    return resultOf(rows);
  } finally {
    await platform.end();
  }
}

async function askAll(platform: Platform, watched: string, progress: (line: string) => void): Promise<WidestRow[]> {
  const { addresses } = platform.runFile();
  const publicUrl = `http://${addresses["gateway.public"]}`;
  const found = [
    ...(await operationsOf(operatorUrl(platform), "operator")),
    ...(await operationsOf(publicUrl, "public")),
  ];
  const rank = (operation: FuzzedOperation): number => last.indexOf(idOf(operation));
  const operations = found.toSorted((one, other) => rank(one) - rank(other));
  const rows: WidestRow[] = [];
  const legal = legalBodies();
  const tokenFor = await tokensOf(platform, operationByRoute());
  for (const operation of operations) {
    const token = await tokenFor(idOf(operation));
    const { bytesMax, isWithin } = legal.get(idOf(operation)) ?? { bytesMax: 0, isWithin: () => false };
    const accepts = (sent: unknown): boolean => isWithin(sent) && operation.acceptsBody(sent);
    const body =
      operation.body === undefined ? undefined : widestBody(operation.body, operation.schemas, bytesMax, accepts);
    const seen: Readonly<Record<string, number>>[] = [];
    let status = 0;
    for (let count = 0; count < (rank(operation) === -1 ? times : 1); count += 1) {
      const longest = longestIn(watched);
      status = await send(operation, body, token);
      // tidy: sleeps because what a request caused ends after its answer
      await pause(afterMs);
      seen.push(longest.since());
    }
    rows.push({
      route: operation.name,
      body_bytes: body === undefined ? 0 : Buffer.byteLength(body),
      status,
      longest_task_ms: shortestOf(seen),
    });
    progress(line(rows.at(-1) as WidestRow));
  }
  return rows;
}

/** Of whoever may: a person, or for what no person may, a machine. Who is refused makes no work. */
async function tokensOf(platform: Platform, asks: ReadonlyMap<string, Operation>): Promise<TokenFor> {
  const person = { roles: developmentOperator(platform.dataFolder, "duty").roles.filter(isRole) };
  const ofMachines = [...new Set(asks.values())].filter((operation) => !mayCall(operation, person));
  const machine = await issueServiceToken(platform, "widest", ofMachines);
  return async (route) => {
    const operation = asks.get(route);
    if (operation !== undefined && ofMachines.includes(operation)) return machine;
    return (await logInAs(platform, "duty")).access_token;
  };
}

type TokenFor = (route: string) => Promise<string>;

const idOf = ({ name }: FuzzedOperation): string => name.split(" ")[1] ?? "";

async function send(operation: FuzzedOperation, body: string | undefined, token: string): Promise<number> {
  try {
    const answer = await fetchOnNewConnection(addressOf(operation), {
      method: operation.method,
      headers: {
        ...(operation.needsToken ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(operation.isStream ? 500 : answerMsMax),
    });
    await answer.text();
    return answer.status;
  } catch {
    // A stream has no end, and whoever restarts itself gives no answer.
    return 0;
  }
}

/** Every page as long as it may be. */
function addressOf({ baseUrl, path, parameters }: FuzzedOperation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(String(parameters.find((one) => one.name === name)?.example ?? "alpha")),
  );
  const query = new URLSearchParams();
  for (const { in: place, name, required, schema, example } of parameters) {
    if (place !== "query") continue;
    if (schema.maximum !== undefined && /count|limit/.test(name)) query.set(name, String(schema.maximum));
    else if (required === true) query.set(name, String(example ?? schema.minimum ?? "alpha"));
  }
  return `${baseUrl}${filled}${query.size === 0 ? "" : `?${query}`}`;
}

function shortestOf(seen: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const [first = {}] = seen;
  return Object.fromEntries(
    Object.keys(first).flatMap((service) => {
      const all = seen.map((one) => one[service] ?? 0);
      const least = Math.min(...all);
      return least === 0 ? [] : [[service, least]];
    }),
  );
}

const line = ({ route, body_bytes, status, longest_task_ms }: WidestRow): string =>
  `${route}: ${status}, ${body_bytes} bytes, ${
    Object.entries(longest_task_ms)
      .map(([service, ms]) => `${service} ${ms.toFixed(1)} ms`)
      .join(", ") || "nothing long"
  }`;

function resultOf(rows: readonly WidestRow[]): BenchResult {
  const long = rows.filter(({ longest_task_ms }) => Object.values(longest_task_ms).some((ms) => ms > taskMsMax));
  const largest = rows.toSorted((one, other) => maxOf(other) - maxOf(one)).slice(0, 20);
  return {
    figures: { task_ms_max: taskMsMax, routes: rows },
    table: largest.map(line).join("\n"),
    shortfalls: long.map((row) => `one task of more than ${taskMsMax} ms: ${line(row)}`),
  };
}

const maxOf = ({ longest_task_ms }: WidestRow): number => Math.max(0, ...Object.values(longest_task_ms));
