// How the loss limits stand: whatever the calendar, the moment, the envelope and the valuations are, each is judged or new risk is denied.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CalendarDefinition, tradingCalendar } from "../../contracts/src/calendar.ts";
import * as decimal from "../../contracts/src/decimal.ts";
import { fromMicroseconds, type Instant, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import { type LossSample, type LossState, lossLimits } from "../../contracts/src/losses.ts";
import { aroundTheClock, newYork } from "../../testkit/risk/loss-life.ts";
import { judgeValuation, type LossOutcome, type LossRules, passTime, rebase } from "./drawdown.ts";
import type { LossFractions } from "./loss-figures.ts";
import { createLossClock } from "./loss-periods.ts";
import { type LossLook, lossBlock, lossStandings } from "./loss-standing.ts";

const calendars: readonly CalendarDefinition[] = [
  newYork,
  aroundTheClock,
  { ...aroundTheClock, name: "tokyo", zone: "Asia/Tokyo" },
  { ...newYork, name: "kiritimati", zone: "Pacific/Kiritimati", holidays: ["2026-11-02", "2026-11-03"] },
  { ...aroundTheClock, name: "pago", zone: "Pacific/Pago_Pago" },
];
const made = calendars.map(tradingCalendar);
/** Both sides of both midnights, a weekend, a holiday, and both days on which clocks change. */
const begins = [
  ...["2026-11-18T23:59:50Z", "2026-11-19T00:00:00Z", "2026-11-18T04:59:55Z", "2026-11-18T05:00:00Z"],
  ...["2026-11-21T15:00:00Z", "2026-11-22T02:00:00Z", "2026-11-26T15:00:00Z", "2026-11-01T05:59:58Z"],
  ...["2026-03-08T06:59:58Z", "2026-12-31T23:59:58Z", "2027-01-01T04:59:58Z"],
].map(parse);

/** Asking a zone what time it is there costs more than all the rest: a clock per beginning remembers its day. */
const clocks = new Map(begins.map((begin) => [begin, createLossClock()]));
const valueAgeMsMax = 60_000;

type Step =
  | { readonly kind: "value"; readonly value: number; readonly says: boolean }
  | { readonly kind: "tick" | "lift" | "rebase" | "restart" }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "calendar"; readonly index: number | undefined }
  | { readonly kind: "limits"; readonly limits: readonly (number | undefined)[] };

const fraction = fc.option(fc.constantFrom(0.01, 0.02, 0.05), { nil: undefined });
const limits = fc.array(fraction, { minLength: lossLimits.length, maxLength: lossLimits.length });
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("value" as const),
      value: fc.integer({ min: 96, max: 102 }),
      says: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("tick" as const, "lift" as const, "lift" as const, "rebase" as const, "restart" as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(1, 1_000, 1_000, 6_000, 61_000, 86_400_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("calendar" as const),
      index: fc.option(fc.nat(made.length - 1), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("limits" as const), limits }) },
);

const fractionsOf = (of: readonly (number | undefined)[]): LossFractions =>
  Object.fromEntries(
    lossLimits.flatMap((limit, index) => {
      const pct = of[index];
      return pct === undefined ? [] : [[limit, decimal.fromNumber(pct)]];
    }),
  );

function play(
  begin: Instant,
  first: number | undefined,
  firstLimits: readonly (number | undefined)[],
  played: readonly Step[],
) {
  let at = begin;
  let calendar = first === undefined ? undefined : made[first];
  let fractions = fractionsOf(firstLimits);
  let state: LossState | undefined;
  let samples: readonly LossSample[] = [];
  const inForce = new Set<string>();
  let hearingSince = begin;
  const dayAt = clocks.get(begin) ?? createLossClock();
  let halts = 0;
  /** Every look: what the standings say, beside what new risk would be answered. */
  const looks: { readonly look: LossLook; readonly blocked: boolean }[] = [];

  const windows = () => ({ rolling_24h: samples.at(0), rolling_5d: samples.at(0) });
  const rules = (): LossRules | undefined => {
    const of = calendar;
    if (of === undefined) return undefined;
    return {
      fractions,
      confirmations: 1,
      confirmMs: 5_000,
      at,
      hearingSince,
      windows: windows(),
      haltsInForce: inForce,
      dayAt: (moment) => dayAt(of, moment),
      newHaltId: () => {
        halts += 1;
        return `halt-${halts}`;
      },
    };
  };
  const adopt = (outcome: LossOutcome | undefined): void => {
    if (outcome === undefined) return;
    state = outcome.state;
    if (outcome.sample !== undefined) samples = [...samples, outcome.sample].slice(-3);
    for (const { haltId } of outcome.breaches) inForce.add(haltId);
  };
  for (const step of played) {
    const by = rules();
    if (step.kind === "value" && by !== undefined) {
      const strategies = step.says
        ? { strategies: [{ strategyId: "a", profit: decimal.fromNumber(step.value - 100) }] }
        : {};
      const valuation = {
        at,
        currency: "USD",
        value: decimal.fromNumber(step.value),
        netFlows: decimal.zero,
        ...strategies,
      };
      adopt(judgeValuation(state, valuation, by));
    } else if (step.kind === "tick" && by !== undefined && state !== undefined) adopt(passTime(state, by));
    else if (step.kind === "lift") inForce.clear();
    else if (step.kind === "rebase" && state !== undefined)
      adopt(rebase(state, { of: "everything", setBy: "operator:duty", reason: "r", at }));
    else if (step.kind === "restart") hearingSince = at;
    else if (step.kind === "pass") at = plusMilliseconds(at, step.ms);
    else if (step.kind === "calendar") calendar = step.index === undefined ? undefined : made[step.index];
    else if (step.kind === "limits") fractions = fractionsOf(step.limits);
    const day = calendar && dayAt(calendar, at);
    const look: LossLook = {
      known: state,
      fractions,
      day,
      windows: windows(),
      haltsInForce: new Set(inForce),
      valueAgeMsMax,
      at,
    };
    const { isPending, judgedUntil } = lossBlock(lossStandings(look), look);
    looks.push({ look, blocked: isPending || judgedUntil === undefined || at >= judgedUntil });
  }
  return looks;
}

test("22.1, 1 to 3: every limit of the envelope is judged, or new risk is denied", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      fc.constantFrom(...begins),
      fc.option(fc.nat(made.length - 1), { nil: undefined }),
      limits,
      fc.array(steps, { minLength: 1, maxLength: 30 }),
      (begin, calendar, first, played) => {
        for (const { look, blocked } of play(begin, calendar, first, played)) {
          const standings = lossStandings(look);
          const { known, day, at } = look;
          for (const limit of lossLimits) {
            if (look.fractions[limit] === undefined) continue;
            const mine = standings.filter((one) => one.limit === limit);
            for (const { state } of mine) seen.add(state);
            const isVacuous = limit === "strategy" && known?.newest.strategies?.length === 0;
            if (mine.length === 0 && !isVacuous && !blocked) throw new Error(`${limit} has no standing`);
            for (const { state, figure, why } of mine) {
              const isDenied = state === "PENDING" || state === "NOT_JUDGED";
              if (isDenied && !blocked) throw new Error(`${limit} is ${state}, and new risk passes`);
              if (state === "NOT_JUDGED" && !why?.includes("this ends")) throw new Error(`${limit}: ${why}`);
              if (isDenied) continue;
              // Judged in truth: against a baseline of the period or a later one, by a fresh value.
              if (figure === undefined || known === undefined) throw new Error(`${limit} is ${state} without figures`);
              const { baseline, isBreach } = figure;
              const trip = known.trips.find(
                (one) => one.limit === limit && one.period === baseline.period && one.version === baseline.version,
              );
              if (state === "BREACHED" && !look.haltsInForce.has(trip?.haltId ?? ""))
                throw new Error(`${limit} is shown as breached without its halt`);
              if (state === "JUDGED" && isBreach) throw new Error(`${limit} is above its limit, and JUDGED`);
              if (state === "BREACHED") continue;
              if (day === undefined || at > plusMilliseconds(known.newest.at, valueAgeMsMax))
                throw new Error(`${limit} is ${state} by nothing`);
              const period =
                limit === "strategy"
                  ? day.daily
                  : limit === "daily" || limit === "weekly" || limit === "monthly"
                    ? day[limit]
                    : "";
              if (baseline.period < period) throw new Error(`${limit} is judged from ${baseline.period} in ${period}`);
            }
          }
        }
      },
    ),
    { seed: 22_1, numRuns: 120 },
  );
  expect([...seen].sort()).toEqual(["BREACHED", "JUDGED", "NOT_JUDGED", "PENDING", "RESUMED"]);
});

test("22.1: a calendar that is changed forgives nothing: what was lost of the day is lost after it", () => {
  fc.assert(
    fc.property(fc.constantFrom(...begins), fc.nat(made.length - 1), fc.nat(made.length - 1), (begin, from, to) => {
      const played: Step[] = [
        { kind: "value", value: 100, says: true },
        { kind: "pass", ms: 1 },
        ...[1, 2].flatMap((): Step[] => [
          { kind: "value", value: 97, says: true },
          { kind: "pass", ms: 1 },
        ]),
        { kind: "calendar", index: to },
        { kind: "tick" },
        { kind: "value", value: 97, says: true },
      ];
      const looks = play(begin, from, [0.05, 0.05, 0.05], played);
      const daily = (index: number) => {
        const { look } = looks[index] as (typeof looks)[number];
        return lossStandings(look).find(({ limit }) => limit === "daily");
      };
      const changed = looks[looks.length - 3] as (typeof looks)[number];
      if (from !== to) expect(changed.blocked).toBe(true);
      const after = daily(looks.length - 1);
      expect(after?.state).toBe("JUDGED");
      expect(decimal.format(after?.figure?.loss ?? decimal.zero)).toBe("3");
    }),
    { seed: 22_2, numRuns: 60 },
  );
});

describe("22.1: what the engine is told lasts as long as it is true", () => {
  const valued = (at: Instant): LossLook => {
    const looks = play(at, 1, [0.02, 0.02, 0.02], [{ kind: "value", value: 100, says: true }]);
    return (looks[0] as (typeof looks)[number]).look;
  };

  test("until the value is too old", () => {
    const look = valued(parse("2026-11-18T12:00:00Z"));
    const { judgedUntil, reason } = lossBlock(lossStandings(look), look);
    expect(judgedUntil).toBe(fromMicroseconds(parse("2026-11-18T12:01:00Z") + 1));
    expect(reason).toContain("older than 60 s");
  });

  test("24: exactly as old as it may be a value judges, a microsecond later nothing does, and the reason says how old it is", () => {
    const valuedAt = parse("2026-11-18T12:00:00Z");
    const aged = (microseconds: number): LossLook => ({
      ...valued(valuedAt),
      valueAgeMsMax: 15_000,
      at: fromMicroseconds(valuedAt + microseconds),
    });
    const stateOf = (look: LossLook) => {
      const set = lossStandings(look).filter(({ limit }) => look.fractions[limit] !== undefined);
      return new Set(set.map(({ state }) => state));
    };
    const last = aged(15_000_000);
    expect(stateOf(last)).toEqual(new Set(["JUDGED"]));
    expect(lossBlock(lossStandings(last), last)).toMatchObject({
      judgedUntil: fromMicroseconds(valuedAt + 15_000_001),
      reason: expect.stringContaining("is older than 15 s; this ends"),
    });
    const old = aged(15_000_001);
    expect(stateOf(old)).toEqual(new Set(["NOT_JUDGED"]));
    expect(lossBlock(lossStandings(old), old)).toMatchObject({ judgedUntil: undefined, isPending: false });
    const older = aged(47_200_000);
    expect(lossBlock(lossStandings(older), older).reason).toBe(
      "daily, weekly, monthly: the newest value, of 2026-11-18T12:00:00.000000Z, is older than 15 s (47 s); this ends with the next valuation",
    );
    // Without a limit nothing is waited for.
    const free = { ...older, fractions: {} };
    expect(lossBlock(lossStandings(free), free).judgedUntil).toBeGreaterThan(parse("2100-01-01T00:00:00Z"));
  });

  test("until the day ends", () => {
    const look = valued(parse("2026-11-18T23:59:30Z"));
    const { judgedUntil, reason } = lossBlock(lossStandings(look), look);
    expect([judgedUntil, reason]).toEqual([
      parse("2026-11-19T00:00:00Z"),
      "the period that begins at 2026-11-19T00:00:00.000000Z has no baseline yet",
    ]);
  });

  test("for ever, where no limit is set", () => {
    const look = { ...valued(parse("2026-11-18T12:00:00Z")), fractions: {}, known: undefined };
    expect(lossBlock(lossStandings(look), look).judgedUntil).toBeGreaterThan(parse("2100-01-01T00:00:00Z"));
  });
});
