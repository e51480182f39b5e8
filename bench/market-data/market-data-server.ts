// The servers of the market-data bench, in a process of their own: the framework with one constant answer, and our public listener with a feed that
// this process drives.
import { serveHttp } from "../../adapters/http/server.ts";
import { systemClock as openClock } from "../../adapters/system/clock.ts";
import { Fault } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import type { SocketRoute } from "../../ports/http.ts";
import { heldFeed } from "../../testkit/gateway/market-feed.ts";
import { publicMarket } from "../../testkit/gateway/public-market.ts";
import { testPorts } from "../../testkit/http/test-ports.ts";

export type ServerTask =
  | { readonly start: "bare" }
  | { readonly start: "quotes"; readonly rate?: { readonly ratePerS: number; readonly burst: number } }
  | { readonly drive: { readonly symbols: number; readonly everyMs: number } }
  | { readonly report: true };

export interface ServerReport {
  readonly rssMb: number;
  readonly batches: number;
  /** By caller and code, as the server closed them. */
  readonly closed: readonly string[];
}

const systemClock = openClock();
const closed: string[] = [];
const feed = heldFeed();
let batches = 0;

async function bare(): Promise<{ readonly port: number }> {
  const { fastify } = await import("fastify");
  const app = fastify();
  const { symbol, ...rest } = quoteAt(1, 100);
  app.get("/v1/quotes/:symbol", async () => ({ symbol, ...rest, age_s: 0, stale: false }));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0 };
}

async function ours(publicRate: { readonly ratePerS: number; readonly burst: number } | undefined) {
  const { ports } = testPorts();
  const nobody = async () => {
    throw new Fault("UNAUTHENTICATED", "Nobody is known here.", { retry: "never" });
  };
  // Lines and observations are kept by the test's ports: a bench would grow by them.
  const quiet = { ...ports, log: silentLog, metrics: silentMetrics };
  const parts = { ...quiet, marketFeed: feed, ownToken: () => "", services: { call: nobody } };
  const { quotes, stream } = publicMarket(parts);
  const anywhere = { host: "127.0.0.1", port: 0, environmentVariable: "" };
  const server = await serveHttp({
    ...quiet,
    verifier: { verify: nobody },
    listeners: { operator: anywhere, public: anywhere },
    routes: [quotes],
    sockets: [noted(stream)],
    // A machine with too much to do must not look like a caller that says nothing.
    limits: { connectionsMax: 4_096, firstRequestMsMax: 60_000 },
    ...(publicRate !== undefined && { publicRate }),
  });
  return { port: server.addresses.public.port };
}

const silentLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};
const instrument = { add: () => undefined, set: () => undefined, observe: () => undefined };
const silentMetrics = { counter: () => instrument, gauge: () => instrument, histogram: () => instrument } as never;

/** The same route, with every closing written down. */
function noted(route: SocketRoute): SocketRoute {
  return {
    ...route,
    open: (connection) =>
      route.open({
        ...connection,
        close: (code, reason) => {
          closed.push(`${connection.caller} ${code} ${reason}`);
          connection.close(code, reason);
        },
      }),
  };
}

function quoteAt(index: number, cents: number) {
  const price = (value: number) => `${Math.floor(value / 100)}.${String(value % 100).padStart(2, "0")}`;
  return {
    symbol: `S${index}`,
    bid: price(cents),
    ask: price(cents + 2),
    last: price(cents + 1),
    bid_size: "100",
    ask_size: "300",
    volume: "1234567",
    currency: "USD",
    venue: "paper",
    quoted_at: format(systemClock.now()),
  };
}

function drive({ symbols, everyMs }: { readonly symbols: number; readonly everyMs: number }): object {
  const instruments = Array.from({ length: symbols }, (_none, index) => ({ symbol: `S${index}` }));
  feed.instruments.say(instruments as never, systemClock.now());
  feed.halts.say({ epoch: 0, halts: [], changes: [] }, systemClock.now());
  feed.funds.say([], systemClock.now());
  const say = (): void => {
    batches += 1;
    const quotes = instruments.map(
      ({ symbol }, index) => [symbol, quoteAt(index, 10_000 + (batches % 5_000))] as const,
    );
    feed.quotes.say(new Map(quotes), systemClock.now());
  };
  say();
  setInterval(say, everyMs);
  return {};
}

async function run(task: ServerTask): Promise<object> {
  if ("report" in task) return { rssMb: process.memoryUsage().rss / 1_048_576, batches, closed } satisfies ServerReport;
  if ("drive" in task) return drive(task.drive);
  return task.start === "bare" ? bare() : ours(task.rate);
}

if (process.send !== undefined && process.argv[2] === "market-data") {
  process.on("disconnect", () => process.exit(0));
  process.on("message", (task: ServerTask) => {
    void run(task).then(
      (result) => process.send?.({ result }),
      (thrown: unknown) => process.send?.({ error: String(thrown) }),
    );
  });
}
