// What the public market data costs over the bare framework, whether one address can spoil it for another, and whether hundreds of subscribers get
// everything, or learn what they did not get.
import { fileURLToPath } from "node:url";
import type { Bench, BenchResult } from "../bench.ts";
import { median } from "../bus/contender.ts";
import { startChild } from "../check-order/children.ts";
import type { ServerReport, ServerTask } from "./market-data-server.ts";
import { flood, type Load, pace } from "./requests.ts";
import { closingOf, readers, sleepers, type Tally } from "./subscribers.ts";

export interface MarketDataOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly connections: number;
  readonly isolationMs: number;
  readonly subscribers: number;
  readonly slow: number;
  readonly symbols: number;
  readonly everyMs: number;
  readonly warmMs: number;
  readonly measuredMs: number;
}

const usual: MarketDataOptions = {
  rounds: 5,
  roundMs: 2_000,
  connections: 16,
  isolationMs: 8_000,
  subscribers: 500,
  slow: 5,
  symbols: 50,
  everyMs: 100,
  warmMs: 60_000,
  measuredMs: 30_000,
};

const ratioMin = 0.3;
const isolationMax = 2;
const growthMbMax = 50;
const slowMsMax = 120_000;

type Progress = (line: string) => void;

export const marketData: Bench = {
  name: "market-data",
  sentence: "Public quotes against the bare framework, one address beside another, and hundreds of subscribers.",
  run: (progress) => runMarketData(usual, progress),
};

function startServer() {
  const here = import.meta.url;
  const file = here.endsWith(".ts") ? "./market-data-server.ts" : "./market-data-server.js";
  const child = startChild(fileURLToPath(new URL(file, here)), "market-data");
  return {
    start: (task: ServerTask) => child.ask<{ readonly port: number }>(task),
    report: () => child.ask<ServerReport>({ report: true } satisfies ServerTask),
    stop: () => child.stop(),
  };
}

export async function runMarketData(options: MarketDataOptions, progress: Progress): Promise<BenchResult> {
  const speed = await measureSpeed(options, progress);
  const isolation = await measureIsolation(options, progress);
  const stream = await measureStream(options, progress);
  const figures = { ...speed, isolation, stream };
  return { figures, table: tableOf(figures), shortfalls: shortfallsOf(figures, options) };
}

async function measureSpeed({ rounds, roundMs, connections }: MarketDataOptions, progress: Progress) {
  const [bareServer, ownServer] = [startServer(), startServer()];
  try {
    const bare = await bareServer.start({ start: "bare" });
    const own = await ownServer.start({ start: "quotes" });
    await ownServer.start({ drive: { symbols: 10, everyMs: 250 } });
    const seen: { bare: Load[]; quotes: Load[] } = { bare: [], quotes: [] };
    for (const { port } of [bare, own]) await flood(port, connections, roundMs / 2);
    for (let round = 0; round < rounds; round += 1) {
      seen.bare.push(await flood(bare.port, connections, roundMs));
      seen.quotes.push(await flood(own.port, connections, roundMs));
      progress(
        `round ${round + 1} of ${rounds}: ${seen.bare.at(-1)?.rps.toFixed(0)} and ${seen.quotes.at(-1)?.rps.toFixed(0)} requests a second`,
      );
    }
    const figure = (loads: readonly Load[]) => ({
      rps: rounded(median(loads.map(({ rps }) => rps))),
      p99_ms: rounded(median(loads.map(({ p99Ms }) => p99Ms))),
    });
    const [bareFigure, quotes] = [figure(seen.bare), figure(seen.quotes)];
    return { bare: bareFigure, quotes, ratio: rounded(quotes.rps / bareFigure.rps) };
  } finally {
    await bareServer.stop();
    await ownServer.stop();
  }
}

async function measureIsolation({ isolationMs }: MarketDataOptions, progress: Progress) {
  const server = startServer();
  try {
    const { port } = await server.start({ start: "quotes", rate: { ratePerS: 20, burst: 40 } });
    await server.start({ drive: { symbols: 10, everyMs: 250 } });
    await pace(port, "127.0.0.1", 15, 1_000);
    const alone = await pace(port, "127.0.0.1", 15, isolationMs);
    const [beside, other] = await Promise.all([
      pace(port, "127.0.0.1", 15, isolationMs),
      pace(port, "127.0.0.2", 100, isolationMs),
    ]);
    progress(
      `alone ${alone.p99Ms.toFixed(2)} ms, beside ${beside.p99Ms.toFixed(2)} ms; ${other.refused} of the other's were refused`,
    );
    return {
      alone_p99_ms: rounded(alone.p99Ms),
      beside_p99_ms: rounded(beside.p99Ms),
      ratio: rounded(beside.p99Ms / alone.p99Ms),
      refused_alone: alone.refused + beside.refused,
      refused_other: other.refused,
    };
  } finally {
    await server.stop();
  }
}

async function measureStream(options: MarketDataOptions, progress: Progress) {
  const server = startServer();
  const tally: Tally = { delivered: 0, skipped: 0, gaps: 0, lost: [] };
  const symbols = Array.from({ length: options.symbols }, (_none, index) => `S${index}`);
  try {
    const { port } = await server.start({ start: "quotes" });
    await server.start({ drive: { symbols: options.symbols, everyMs: options.everyMs } });
    const all = await readers(port, options.subscribers - options.slow, symbols, tally);
    const slow = await sleepers(port, options.slow, symbols);
    progress(`${all.length} subscribers read, ${slow.length} do not`);
    const began = performance.now();
    // A slow one reads on when the server has closed it, to hear by which name.
    const names = Promise.all(slow.map((one) => closedByName(one.address, server, () => closingOf(one))));
    await sleep(options.warmMs);
    const before = (await server.report()).rssMb;
    progress(`after ${Math.round((performance.now() - began) / 1_000)} s the server has ${before.toFixed(0)} MB`);
    await sleep(options.measuredMs);
    const { rssMb } = await server.report();
    const slowNames = await names;
    const lost = tally.lost.length;
    for (const { socket } of all) socket.terminate();
    return {
      subscribers: options.subscribers,
      delivered_share: rounded(tally.delivered / Math.max(1, tally.delivered + tally.skipped), 4),
      delivered: tally.delivered,
      gaps_undetected: tally.gaps,
      slow: options.slow,
      slow_closed: slowNames.filter((name) => name === "4008 SLOW_CONSUMER").length,
      others_closed: lost,
      rss_growth_mb: rounded(rssMb - before),
    };
  } finally {
    await server.stop();
  }
}

/** One question at a time: the channel to the server takes no more. */
let asking: Promise<unknown> = Promise.resolve();

async function closedByName(
  address: string,
  server: ReturnType<typeof startServer>,
  closing: () => Promise<string>,
): Promise<string> {
  const until = performance.now() + slowMsMax;
  while (performance.now() < until) {
    const asked = asking.then(() => server.report());
    asking = asked.catch(() => undefined);
    if ((await asked).closed.some((line) => line.startsWith(`${address} `))) return closing();
    await sleep(1_000);
  }
  return "not closed";
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function rounded(value: number, places = 2): number {
  return Number(value.toFixed(places));
}

type Figures = Awaited<ReturnType<typeof measureSpeed>> & {
  readonly isolation: Awaited<ReturnType<typeof measureIsolation>>;
  readonly stream: Awaited<ReturnType<typeof measureStream>>;
};

function shortfallsOf({ ratio, isolation, stream }: Figures, { slow }: MarketDataOptions): readonly string[] {
  const found: string[] = [];
  if (ratio < ratioMin) found.push(`quotes are answered at ${ratio} of the bare framework's rate, not ${ratioMin}`);
  if (isolation.ratio > isolationMax)
    found.push(`another address makes p99 ${isolation.ratio} times as long, not ${isolationMax}`);
  if (stream.gaps_undetected > 0) found.push(`${stream.gaps_undetected} gaps went undetected`);
  if (stream.slow_closed !== slow) found.push(`${stream.slow_closed} of ${slow} slow consumers were closed by name`);
  if (stream.others_closed > 0) found.push(`${stream.others_closed} subscribers that read were closed`);
  if (stream.rss_growth_mb > growthMbMax)
    found.push(`the server grew by ${stream.rss_growth_mb} MB, more than ${growthMbMax}`);
  return found;
}

function tableOf({ bare, quotes, ratio, isolation, stream }: Figures): string {
  return [
    `bare framework   ${bare.rps} requests/s, p99 ${bare.p99_ms} ms`,
    `public quotes    ${quotes.rps} requests/s, p99 ${quotes.p99_ms} ms: ${ratio} of it`,
    `isolation        p99 ${isolation.alone_p99_ms} ms alone, ${isolation.beside_p99_ms} ms beside another at 5 times its limit`,
    `stream           ${stream.delivered_share} delivered, ${stream.gaps_undetected} gaps undetected, ${stream.slow_closed} of ${stream.slow} slow ones closed by name, ${stream.others_closed} others; ${stream.rss_growth_mb} MB growth`,
  ].join("\n");
}
