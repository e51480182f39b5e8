// The factors that a fund's returns are held against, made of instruments that are traded: each is a return that somebody could have earned, with weights
// known before the day. A file of one's own takes their place.
import { mean } from "../core/stats/moments.ts";
import type { ReportFacts } from "./facts.ts";
import { type DatedReturns, marketAxis, returnsOn } from "./market-days.ts";
import { compareText } from "./metrics/dates.ts";

export interface Factor {
  readonly name: string;
  readonly definition: string;
  readonly returns: DatedReturns;
}

const momentumDays = 60;
const technology = "technology";

export function factorsOf(facts: ReportFacts): readonly Factor[] {
  if (facts.factors !== undefined) {
    const { names, days } = facts.factors;
    return names.map((name, index) => ({
      name,
      definition: "as in the file that was handed in",
      returns: new Map(
        days.flatMap(({ day, returns }) => (returns[index] === undefined ? [] : [[day, returns[index]]])),
      ),
    }));
  }
  const axis = marketAxis(facts);
  const universe = (facts.universe ?? []).map(({ symbol, sector }) => {
    const closes = facts.closes[symbol] ?? [];
    return { symbol, sector, closes, returns: returnsOn(axis, closes) };
  });
  const named = (name: string) => universe.filter(({ symbol }) => symbol === name);
  const market = facts.benchmark?.symbol ?? "";
  const others = universe.filter(({ symbol }) => symbol !== market);
  const marketReturns = facts.benchmark === null ? meanOf(axis, universe) : returnsOn(axis, facts.benchmark.closes);
  const own: Factor = {
    name: facts.benchmark === null ? "universe" : market,
    definition: facts.benchmark === null ? "mean return of the universe" : `return of ${market}`,
    returns: marketReturns,
  };
  if (named("BTC-USD").length > 0) {
    return [
      own,
      {
        name: `others minus ${market}`,
        definition: `mean return of the other coins - that of ${market}`,
        returns: less(meanOf(axis, others), marketReturns),
      },
    ];
  }
  const inside = others.filter(({ sector }) => sector === technology);
  const outside = others.filter(({ sector }) => sector !== technology);
  return [
    own,
    {
      name: "momentum",
      definition: `mean return of the half of the universe (without ${market}) that rose most over the ${momentumDays} days before - that of the other half`,
      returns: momentum(axis, others),
    },
    {
      name: "technology minus rest",
      definition: "mean return of technology - mean return of the other sectors",
      returns: less(meanOf(axis, inside), meanOf(axis, outside)),
    },
  ].filter(({ returns }) => returns.size > 0);
}

interface Member {
  readonly symbol: string;
  readonly closes: readonly { readonly day: string; readonly close: string }[];
  readonly returns: DatedReturns;
}

/** On days on which every member has a return: a mean over fewer would be another factor. */
function meanOf(axis: readonly string[], members: readonly Member[]): DatedReturns {
  const found = new Map<string, number>();
  for (const day of axis) {
    const row = members.flatMap(({ returns }) => returns.get(day) ?? []);
    const middle = row.length === members.length ? mean(row) : null;
    if (middle !== null) found.set(day, middle);
  }
  return found;
}

function less(left: DatedReturns, right: DatedReturns): DatedReturns {
  return new Map([...left].flatMap(([day, each]) => (right.has(day) ? [[day, each - (right.get(day) ?? 0)]] : [])));
}

/** Ranked by the closes of the day before and of 60 days before that one: nothing of the day itself is known. */
function momentum(axis: readonly string[], members: readonly Member[]): DatedReturns {
  const closes = members.map((member) => new Map(member.closes.map(({ day, close }) => [day, Number(close)])));
  const found = new Map<string, number>();
  for (const [index, day] of axis.entries()) {
    const [then, before] = [axis[index - 1 - momentumDays], axis[index - 1]];
    if (then === undefined || before === undefined || members.length < 2) continue;
    const ranked = members.flatMap(({ symbol, returns }, at) => {
      const [old, late, now] = [closes[at]?.get(then), closes[at]?.get(before), returns.get(day)];
      return old === undefined || late === undefined || now === undefined || !(old > 0)
        ? []
        : [{ symbol, rose: late / old, now }];
    });
    if (ranked.length < members.length) continue;
    ranked.sort((one, other) => other.rose - one.rose || compareText(one.symbol, other.symbol));
    const half = Math.floor(ranked.length / 2);
    const [best, worst] = [
      mean(ranked.slice(0, half).map(({ now }) => now)),
      mean(ranked.slice(-half).map(({ now }) => now)),
    ];
    if (best !== null && worst !== null) found.set(day, best - worst);
  }
  return found;
}
