// Inputs of position_anomaly: by how much a strategy's position in a symbol changed in each span of time, from fills.
import * as decimal from "../../../../contracts/src/decimal.ts";
import { fromMicroseconds, type Instant, parse } from "../../../../contracts/src/instant.ts";
import { parseJson } from "../../../../contracts/src/parse-json.ts";
import type { Fill } from "../../../../contracts/src/records/order.ts";
import type { PositionAnomalyInput, PositionChange } from "../../../../core/watchdogs/position-anomaly.ts";
import type { Reader, Watched } from "../assigned.ts";
import { type Facts, sinceGoLive } from "./facts.ts";

interface ChangeConfig {
  readonly observation_s: number;
  readonly window: number;
}

const pageMax = 500;
const fillsMax = 20_000;
/** Spans that are made up for, at most. */
const lateSpansMax = 20;
/** Four years: a fund that was valued for longer began long enough ago. */
const navDaysMax = 1_600;
/** Where a position begins, and what the market did to it, is no change that anybody decided. */
const uncounted: ReadonlySet<string> = new Set(["CORPORATE_ACTION", "CASH_IN_LIEU", "SETTLEMENT"]);

/** Trades of an imported past have no number and count; where the platform's own positions begin has one. */
const isCounted = ({ kind = "TRADE", sequence }: Fill): boolean =>
  kind === "SEED" ? sequence === undefined : !uncounted.has(kind);

export function positionReader<Config extends ChangeConfig>(facts: Facts): Reader<PositionAnomalyInput, Config> {
  /** By fund: newest first, as far back as was needed. */
  const read = new Map<string, { readonly since: Instant; readonly fills: readonly Fill[] }>();

  /** Since when the platform itself has valued each fund; it never moves. */
  const began = new Map<string, Instant>();

  async function beganAt(fundId: string, at: Instant): Promise<Instant> {
    const known = began.get(fundId);
    if (known !== undefined) return known;
    const points = await facts.navDays(fundId, navDaysMax);
    const first = sinceGoLive(points)[0]?.at;
    // A fund that only has imported values, or none, begins now.
    if (first === undefined || !points.some(({ prices }) => prices !== undefined)) return at;
    began.set(fundId, first);
    return first;
  }

  /** Reads what is new, and what is older only when a longer time is asked for than before. */
  async function fillsSince(fundId: string, from: Instant): Promise<readonly Fill[]> {
    const before = read.get(fundId);
    const known = before !== undefined && before.since <= from ? before : undefined;
    const newest = known?.fills[0]?.fill_id;
    const found: Fill[] = [];
    let after: string | undefined;
    while (found.length < fillsMax) {
      const page = await facts.ports.omsQueries.fills({
        fundId,
        countMax: pageMax,
        ...(after === undefined ? {} : { afterFillId: after }),
      });
      const end = page.findIndex((fill) => fill.fill_id === newest || parse(fill.filled_at) < from);
      found.push(...(end === -1 ? page : page.slice(0, end)));
      if (end !== -1 || page.length < pageMax) break;
      after = page.at(-1)?.fill_id;
    }
    const kept = (known?.fills ?? []).filter((fill) => parse(fill.filled_at) >= from);
    const fills = [...found, ...kept];
    read.set(fundId, { since: from, fills });
    return fills;
  }

  return {
    async read(request) {
      const { instruments } = await facts.reference();
      const navs = new Map((await facts.ports.riskStore.navs()).map((nav) => [nav.fund_id, Number(nav.nav)]));
      const positions = await facts.positions();
      const watched: Watched<PositionAnomalyInput>[] = [];
      for (const { fund_id: fundId } of await facts.funds()) {
        if (!request.isDue(fundId)) continue;
        const { observation_s: spanS, window } = request.config(fundId);
        const spanUs = spanS * 1_000_000;
        const last = Math.floor(request.at / spanUs);
        const fills = await fillsSince(fundId, fromMicroseconds((last - window - lateSpansMax) * spanUs));
        const counted = fills.filter(isCounted);
        const keys = new Set([
          ...counted.map((fill) => JSON.stringify([fill.strategy_id, fill.symbol])),
          ...positions
            .filter((one) => one.fundId === fundId)
            .map((one) => JSON.stringify([one.strategyId, one.symbol])),
        ]);
        const nav = navs.get(fundId) ?? Number.NaN;
        const liveSince = Math.floor((await beganAt(fundId, request.at)) / spanUs);
        for (const key of keys) {
          const [strategyId, symbol] = parseJson(key) as [string, string];
          const own = counted.filter((fill) => fill.strategy_id === strategyId && fill.symbol === symbol);
          const multiplier = Number(instruments.get(symbol)?.multiplier ?? "1");
          const changes = changesOf(own, { spanUs, last, count: window + lateSpansMax, multiplier, nav });
          const scope = { fundId, strategyId, symbol };
          for (const span of spansToJudge(request.lastObservation(scope), last)) {
            const until = changes.slice(0, changes.length - (last - span)).slice(-(window + 1));
            const liveCount = Math.max(0, span - liveSince);
            watched.push({ scope, input: { changes: until, liveCount, asOf: request.at } });
          }
        }
      }
      return watched;
    },
  };
}

/**
 * The running span, and before it those since the one that was judged last, that one included: a fill that comes after the last judgement of its span
 * belongs to it all the same. Of others, as after `observation_s` was changed, nothing is known.
 */
export function spansToJudge(judged: string | null, last: number): readonly number[] {
  const before = judged === null ? Number.NaN : Number(judged);
  const first = Number.isInteger(before) && before <= last && before >= last - lateSpansMax ? before : last;
  return Array.from({ length: last - first + 1 }, (_unused, place) => first + place);
}

interface Spans {
  readonly spanUs: number;
  readonly last: number;
  /** So many before the running one. */
  readonly count: number;
  readonly multiplier: number;
  readonly nav: number;
}

/** One for every span, oldest first, the running one last; a span without a fill is a change of zero. */
function changesOf(fills: readonly Fill[], { spanUs, last, count, multiplier, nav }: Spans): readonly PositionChange[] {
  const sums = new Map<number, { notional: number; isAdjusted: boolean }>();
  for (const fill of fills) {
    const span = Math.floor(parse(fill.filled_at) / spanUs);
    const sign = fill.side === "BUY" || fill.side === "BUY_TO_COVER" ? 1 : -1;
    const value = sign * decimal.toNumber(decimal.parse(fill.quantity)) * Number(fill.price) * multiplier;
    const sum = sums.get(span) ?? { notional: 0, isAdjusted: false };
    sums.set(span, { notional: sum.notional + value, isAdjusted: sum.isAdjusted || fill.kind === "ADJUSTMENT" });
  }
  return Array.from({ length: count + 1 }, (_unused, place) => {
    const span = last - count + place;
    const { notional, isAdjusted } = sums.get(span) ?? { notional: 0, isAdjusted: false };
    return { id: String(span), delta: notional / nav, notional, adjusted: isAdjusted };
  });
}
