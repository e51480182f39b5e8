// The public port's knowledge: quotes, instruments, funds and halts as the services said last. Everything that strangers read or hear comes from here;
// the gateway asks with its own token, because nobody logs in there.
import { Fault } from "../../../contracts/src/fault.ts";
import type { HaltChanges, ListHaltChangesRequest } from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import type { FundStatus, Instrument, Quote } from "../../../contracts/src/generated/svc/v1/market.ts";
import type { Quotes } from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Funds, Instruments, ListNavsRequest, Navs } from "../../../contracts/src/generated/svc/v1/platform.ts";
import { format, millisecondsPerDay, minusMilliseconds } from "../../../contracts/src/instant.ts";
import type { Health } from "../../../ports/health.ts";
import type { GatewayParts } from "../parts.ts";
import { type FundPolicies, type PastNav, publicFund, shownOf } from "./fund-policy.ts";
import type { MarketFeed } from "./market-sources.ts";
import { type FollowedHalts, type HidesValue, keptChangesMax, type Shown, withChanges } from "./public-halts.ts";
import { type FollowedSource, follow } from "./reported.ts";

const quotesEveryMs = 250;
const haltsEveryMs = 250;
const fundsEveryMs = 1_000;
const instrumentsEveryMs = 2_000;
/** A delayed value is asked for again after so long. */
const pastNavEveryMs = 10_000;
const timeoutMs = 2_000;

const noFunds =
  "There is no fund, so every order is denied: set calendars, instruments and funds (ctl treasury reference set), then an envelope for each fund.";

export interface RunningMarketFeed extends MarketFeed {
  /** Starting until everything was said once, by the services that are expected. */
  health(): Health;
  stop(): Promise<void>;
}

type MarketFeedParts = Pick<GatewayParts, "services" | "ownToken" | "clock" | "timers" | "log"> & {
  readonly policies: FundPolicies;
  readonly expectedServices: readonly string[];
};

export function startMarketFeed(parts: MarketFeedParts): RunningMarketFeed {
  const { policies } = parts;
  const past = pastNavs(parts);
  const hidden = hiddenValues(policies);
  const quotes = follow<ReadonlyMap<string, Quote>>({
    ...parts,
    name: "quotes",
    everyMs: quotesEveryMs,
    ask: async (_before, signal) => {
      const { quotes: reported } = await askOwn<Quotes>(parts, "MarketDesk", "ListQuotes", { symbols: [] }, signal);
      return new Map(reported.map((quote) => [quote.symbol, quote] as const));
    },
  });
  const instruments = follow<readonly Instrument[]>({
    ...parts,
    name: "instruments",
    everyMs: instrumentsEveryMs,
    ask: async (_before, signal) =>
      (await askOwn<Instruments>(parts, "Treasury", "ListInstruments", {}, signal)).instruments,
  });
  let hasFunds = true;
  const funds = follow<readonly object[]>({
    ...parts,
    name: "funds",
    everyMs: fundsEveryMs,
    ask: async (_before, signal) => {
      const reported = await askOwn<Funds>(parts, "Treasury", "ListFunds", {}, signal);
      hasFunds = reported.funds.length > 0;
      hidden.hear(reported.funds);
      const known = await past(reported.funds, signal);
      const now = parts.clock.now();
      return reported.funds.flatMap((fund) => publicFund(fund, policies, known.get(fund.fund_id), now) ?? []);
    },
  });
  const halts = follow<FollowedHalts>({
    ...parts,
    name: "halts",
    everyMs: haltsEveryMs,
    ask: (before, signal) => newestHalts({ ...parts, hidesValue: hidden.hides }, before, signal),
  });
  // Where treasury is left out, operations answers (contracts/src/served-by.ts).
  const keeper = parts.expectedServices.includes("treasury") ? "treasury" : "operations";
  const sources: readonly (readonly [string, Pick<FollowedSource<unknown>, "newest" | "stop">])[] = [
    ["operations", quotes],
    [keeper, instruments],
    [keeper, funds],
    ["operations", halts],
  ];
  return {
    quotes,
    instruments,
    funds,
    halts,
    health: () => {
      const waiting = sources.some(
        ([service, source]) => parts.expectedServices.includes(service) && source.newest() === undefined,
      );
      if (waiting) return { status: "starting", complaint: "the public market data has not been reported yet" };
      return hasFunds ? { status: "ok" } : { status: "ok", complaint: noFunds };
    },
    stop: async () => {
      await Promise.all(sources.map(([, source]) => source.stop()));
    },
  };
}

/** Page by page until nothing is missing: no halt is skipped, however many came at once. */
async function newestHalts(
  parts: MarketFeedParts & Shown,
  before: FollowedHalts | undefined,
  signal: AbortSignal,
): Promise<FollowedHalts> {
  let known = before;
  let after = before?.epoch ?? 0;
  for (;;) {
    const message: ListHaltChangesRequest = { after_epoch: after, count_max: keptChangesMax };
    const page = await askOwn<HaltChanges>(parts, "HaltDesk", "ListHaltChanges", message, signal);
    // A database that was put back counts from less: what was known is of another history.
    if (known !== undefined && page.epoch < known.epoch) {
      known = undefined;
      after = 0;
      continue;
    }
    known = withChanges(known, page, parts);
    const reached = page.changes.at(-1)?.epoch ?? page.epoch;
    if (reached >= page.epoch) return known;
    after = reached;
  }
}

/** Which funds hide what they are worth now; one that treasury has not named yet does. */
function hiddenValues(policies: FundPolicies) {
  let showing: ReadonlySet<string> = new Set();
  let isAnyHidden = true;
  const hides: HidesValue = (fundId) => (fundId === "" ? isAnyHidden : !showing.has(fundId));
  return {
    hides,
    hear(funds: readonly FundStatus[]): void {
      const open = funds.filter((fund) => shownOf(policies, fund).nav === "live");
      showing = new Set(open.map(({ fund_id }) => fund_id));
      isAnyHidden = open.length < funds.length;
    },
  };
}

/** The values that are old enough, of the funds that show theirs with a delay. */
function pastNavs(parts: MarketFeedParts) {
  const known = new Map<string, { readonly askedMs: number; readonly past: PastNav | undefined }>();
  return async (funds: readonly FundStatus[], signal: AbortSignal): Promise<ReadonlyMap<string, PastNav>> => {
    const found = new Map<string, PastNav>();
    for (const fund of funds) {
      const { nav, navDelayS } = shownOf(parts.policies, fund);
      if (nav !== "delayed") continue;
      const nowMs = parts.clock.now() / 1_000;
      let entry = known.get(fund.fund_id);
      if (entry === undefined || Math.abs(nowMs - entry.askedMs) >= pastNavEveryMs) {
        entry = { askedMs: nowMs, past: await pastNavOf(parts, fund.fund_id, navDelayS, signal) };
        known.set(fund.fund_id, entry);
      }
      if (entry.past !== undefined) found.set(fund.fund_id, entry.past);
    }
    return found;
  };
}

async function pastNavOf(
  parts: MarketFeedParts,
  fundId: string,
  delayS: number,
  signal: AbortSignal,
): Promise<PastNav | undefined> {
  const to = minusMilliseconds(parts.clock.now(), delayS * 1_000);
  const message: ListNavsRequest = {
    fund_id: fundId,
    from: format(minusMilliseconds(to, millisecondsPerDay)),
    to: format(to),
    every: "second",
    count_max: 1,
  };
  const newest = (await askOwn<Navs>(parts, "Treasury", "ListNavs", message, signal)).navs.at(-1);
  return newest === undefined ? undefined : { nav: newest.nav, nav_at: newest.as_of };
}

async function askOwn<Answer>(
  parts: Pick<GatewayParts, "services" | "ownToken">,
  service: string,
  method: string,
  message: object,
  signal: AbortSignal,
): Promise<Answer> {
  const outcome = await parts.services.call(service, method, message, { bearer: parts.ownToken(), timeoutMs, signal });
  if (!outcome.ok) throw new Fault("SERVICE_UNAVAILABLE", outcome.denial.reason, { retry: "later" });
  // A procedure's answer is the message that the protos name for it.
  return outcome.value as Answer;
}
