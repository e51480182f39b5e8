// The charting platform, played: alerts as it sends them, for a running platform whose funds have secrets that a test knows.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openFileSecrets } from "../adapters/secrets-file/file-secrets.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemRandom } from "../adapters/system/random.ts";
import { systemTimers } from "../adapters/system/timers.ts";
import { fetchOnNewConnection } from "./http/fetch-on-new-connection.ts";
import { pause, type RunningPlatform } from "./platform.ts";
import { rememberingLog } from "./secrets-file/folders.ts";

/** One of the four published ones. */
export const publishedAddress = "52.89.214.238";

export interface Sent {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  readonly text: string;
  readonly tookMs: number;
}

export interface SendOptions {
  readonly method?: string;
  readonly type?: string | null;
  /** X-Forwarded-For; of a published address unless said otherwise, null sends none. */
  readonly from?: string | null;
  readonly path?: string;
}

/** Writes secrets of funds as another tool would: plain text at their paths. */
export async function writeFundSecrets(
  platform: RunningPlatform,
  secrets: Readonly<Record<string, string>>,
): Promise<void> {
  const [clock, timers, random] = [systemClock(), systemTimers(), systemRandom()];
  const key = { kind: "key file", path: join(platform.dataFolder, "secrets.key") } as const;
  const file = join(platform.dataFolder, "secrets");
  const store = await openFileSecrets({ file, key, clock, timers, random, log: rememberingLog() });
  for (const [fundId, value] of Object.entries(secrets))
    await store.put(`secret/portcullis/tradingview/${fundId}`, value);
  await store.close();
}

export const secondsNow = (aheadS = 0): string =>
  `${new Date(Date.now() + aheadS * 1_000).toISOString().slice(0, 19)}Z`;

let keys = 0;

/** A good alert of alpha, changed; undefined leaves a field away. */
export function alertWith(secret: string, changes: Readonly<Record<string, unknown>> = {}): string {
  keys += 1;
  const usual = {
    secret,
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "NASDAQ:AAPL",
    side: "buy",
    quantity: "1",
    order_type: "MARKET",
    idempotency_key: `alert-${keys}-${secondsNow()}`,
  };
  return JSON.stringify({ ...usual, ...changes });
}

export async function sendAlert(platform: RunningPlatform, body: string, options: SendOptions = {}): Promise<Sent> {
  const { method = "POST", type = "text/plain; charset=utf-8", from = publishedAddress } = options;
  const url = `http://${platform.runFile().addresses["gateway.public"]}${options.path ?? "/tradingview/webhook"}`;
  const begun = performance.now();
  const answer = await fetchOnNewConnection(url, {
    method,
    headers: {
      ...(type === null ? {} : { "content-type": type }),
      ...(from === null ? {} : { "x-forwarded-for": from }),
    },
    ...(method === "GET" ? {} : { body: new TextEncoder().encode(body) }),
  });
  const text = await answer.text();
  const read = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: answer.status, body: read, headers: answer.headers, text, tookMs: performance.now() - begun };
}

/** Comes again when it came too often. */
export async function sendPaced(platform: RunningPlatform, body: string, options: SendOptions = {}): Promise<Sent> {
  for (;;) {
    const sent = await sendAlert(platform, body, options);
    if (sent.status !== 429) return sent;
    await pause(1_100);
  }
}

/** The server of a platform's own database and all of its processes, each of which has a group of its own. */
export function databaseProcesses(platform: RunningPlatform): readonly number[] {
  const server = platform.runFile().database.pid ?? 0;
  const children = readdirSync("/proc").filter((name) => {
    if (!/^[0-9]+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1] === String(server);
    } catch {
      // It ended while the folder was read.
      return false;
    }
  });
  return [server, ...children.map(Number)];
}

/** The files below a folder that contain one of the texts. */
export function filesWith(folder: string, texts: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readUnlessGone(path);
    if (texts.some((text) => bytes.includes(text))) found.push(path);
  }
  return found;
}

/** A running database removes files while others are read. */
function readUnlessGone(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw thrown;
  }
}
