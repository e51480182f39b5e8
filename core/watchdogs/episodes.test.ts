// The promises of episodes.ts by number, and a random row of judgements held against a model that recomputes everything from the whole history.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as instant from "../../contracts/src/instant.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { close, type EpisodeRules, newStanding, type Standing, step } from "./episodes.ts";
import { type Judgement, type RungEffect, stateOf, withoutValue } from "./watchdog.ts";

const start = instant.fromUnixMs(1_700_000_000_000);
const rules: EpisodeRules = { persistence: 2, clearAfter: 2, acting: true };
const effects: readonly RungEffect[] = [
  { rung: 1, effect: { kind: "restriction", restriction: "ALLOCATION", factor: 0.5 } },
  { rung: 2, effect: { kind: "cross_post" } },
  { rung: 3, effect: { kind: "halt", level: "STRATEGY_HALT" } },
];
const shared = { threshold: 1, unit: "z", sampleCount: 60, asOf: start, reason: null, figures: {}, effects };
const reading = (observation: string, rung: number, clears = rung === 0): Judgement => ({
  ...shared,
  state: stateOf(rung, effects),
  value: rung,
  observation,
  rung,
  clears,
});
const stale = withoutValue("STALE", "NO_INPUT", shared);

/** Judges one after the other and keeps what changed. */
function run(judgements: readonly Judgement[], over: Partial<EpisodeRules> = {}, from: Standing = newStanding(start)) {
  let standing = from;
  const changes = judgements.flatMap((judgement, index) => {
    const next = step(
      standing,
      judgement,
      { ...rules, ...over },
      instant.plusMilliseconds(start, index + 1),
      `e${index}`,
    );
    standing = next.standing;
    return next.change === null ? [] : [next.change];
  });
  return { standing, changes, events: changes.map(({ event, rung }) => `${event} ${rung}`) };
}

describe("episodes", () => {
  it("1: count observations, not judgements, and let a running observation change its mind", () => {
    expect(run([reading("a", 1), reading("a", 1), reading("a", 1)]).events).toEqual([]);
    expect(run([reading("a", 0), reading("a", 1), reading("b", 1)]).events).toEqual(["OPENED 1"]);
    expect(run([reading("a", 1), reading("a", 0), reading("b", 1)]).events).toEqual([]);
  });

  it("2: open at the highest rung that persisted, skip rungs, and hand out every effect once", () => {
    const { changes } = run([reading("a", 3), reading("b", 2), reading("c", 3), reading("d", 3), reading("e", 3)]);
    expect(changes.map(({ event, rung }) => [event, rung])).toEqual([
      ["OPENED", 2],
      ["ESCALATED", 3],
    ]);
    expect(changes.map((each) => each.effects.map(({ kind }) => kind))).toEqual([
      ["restriction", "cross_post"],
      ["halt"],
    ]);
    expect(new Set(changes.map(({ episodeId }) => episodeId)).size).toBe(1);
  });

  it("3: clear with hysteresis", () => {
    const open = [reading("a", 1), reading("b", 1)];
    expect(run([...open, reading("c", 0), reading("d", 0, false), reading("e", 0)]).events).toEqual(["OPENED 1"]);
    const { events, standing } = run([...open, reading("c", 0), reading("c", 0), reading("d", 0)]);
    expect(events).toEqual(["OPENED 1", "CLEARED 1"]);
    expect(standing).toMatchObject({ episode: null, state: "OK" });
  });

  it("4: take no value for neither good nor bad", () => {
    const { events, standing } = run([reading("a", 1), stale, reading("b", 1), reading("c", 0), stale]);
    expect(events).toEqual(["STALE 0", "OPENED 1", "STALE 1"]);
    expect(standing.state).toBe("STALE");
    expect(standing.episode?.rung).toBe(1);
    const warm = run([withoutValue("WARMUP", "NO_BACKTEST", shared)]);
    expect([warm.events, warm.standing.state]).toEqual([[], "WARMUP"]);
  });

  it("5: withhold in a dry run, and owe it", () => {
    const dry = run([reading("a", 1), reading("b", 1)], { acting: false });
    expect(dry.changes).toMatchObject([{ event: "OPENED", effects: [], withheld: [{ kind: "restriction" }] }]);
    expect(dry.standing.state).toBe("ACTION");
    const acting = run([reading("b", 1), reading("c", 1)], {}, dry.standing);
    expect(acting.changes).toMatchObject([{ event: "ESCALATED", rung: 1, effects: [{ kind: "restriction" }] }]);
  });

  it("6: announce STALE once and its end once", () => {
    expect(run([stale, stale, reading("a", 0), reading("b", 0), stale]).events).toEqual([
      "STALE 0",
      "CLEARED 0",
      "STALE 0",
    ]);
  });

  it("end what is closed by force, and open anew afterwards", () => {
    const { standing } = run([reading("a", 1), reading("b", 1)]);
    const closed = close(standing, start);
    expect(closed.change).toMatchObject({ event: "CLEARED", episodeId: "e1" });
    expect(close(closed.standing, start).change).toBeNull();
    expect(run([reading("c", 1), reading("d", 1)], {}, closed.standing).events).toEqual(["OPENED 1"]);
  });
});

/** The same from the whole history: readings since the last clearing, one an observation, and the effects handed out in this episode. */
function modelled(rows: readonly { readonly judgement: Judgement; readonly acting: boolean }[]) {
  let readings: Judgement[] = [];
  let open: { rung: number; given: Set<string> } | null = null;
  let announced = false;
  return rows.map(({ judgement, acting }) => {
    if (judgement.observation === null) {
      if (judgement.state !== "STALE" || announced) return null;
      announced = true;
      return { event: "STALE", rung: open?.rung ?? 0, given: [] as string[] };
    }
    if (readings.at(-1)?.observation === judgement.observation) readings.pop();
    readings.push(judgement);
    const lasting = (count: number): readonly Judgement[] => (readings.length < count ? [] : readings.slice(-count));
    const recent = lasting(rules.persistence);
    const confirmed = recent.length === 0 ? 0 : Math.min(...recent.map(({ rung }) => rung));
    const calm = lasting(rules.clearAfter);
    const wasAnnounced = announced;
    announced = false;
    if (open !== null && calm.length > 0 && calm.every(({ clears }) => clears)) {
      const { rung } = open;
      open = null;
      readings = [judgement];
      return { event: "CLEARED", rung, given: [] };
    }
    if (open === null && confirmed === 0) return wasAnnounced ? { event: "CLEARED", rung: 0, given: [] } : null;
    const began = open === null;
    const before: number = open?.rung ?? 0;
    const episode: { rung: number; given: Set<string> } = open ?? { rung: 0, given: new Set() };
    open = episode;
    episode.rung = Math.max(before, confirmed);
    const wanted = effects.filter(({ rung }) => rung <= episode.rung).map(({ effect }) => effect.kind);
    const given = acting ? wanted.filter((kind) => !episode.given.has(kind)) : [];
    for (const kind of given) episode.given.add(kind);
    if (!began && episode.rung === before && given.length === 0) return null;
    return { event: began ? "OPENED" : "ESCALATED", rung: episode.rung, given };
  });
}

it("a random row of judgements changes what the model changes, whatever is stored and read in between", () => {
  const judgements = fc.oneof(
    { weight: 8, arbitrary: fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean(), fc.boolean()) },
    { weight: 1, arbitrary: fc.constant("stale" as const) },
  );
  const rows = fc.array(fc.tuple(judgements, fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(rows, (drawn) => {
      let observation = 0;
      const asked = drawn.map(([each, acting]) => {
        if (each === "stale") return { judgement: stale, acting };
        const [rung, clears, fresh] = each;
        if (fresh) observation += 1;
        return { judgement: reading(`o${observation}`, rung, rung === 0 && clears), acting };
      });
      let standing = newStanding(start);
      const seen = asked.map(({ judgement, acting }, index) => {
        const stored = JSON.parse(JSON.stringify(standing)) as Standing;
        const next = step(stored, judgement, { ...rules, acting }, instant.plusMilliseconds(start, index), `e${index}`);
        standing = next.standing;
        const { change } = next;
        return change && { event: change.event, rung: change.rung, given: change.effects.map(({ kind }) => kind) };
      });
      expect(seen).toEqual(modelled(asked));
    }),
    { seed: 25, numRuns: inputCount(1_000) },
  );
});
