// A replay in virtual time against a server that knows the whole day, later things too. What must hold at every change is looked at there: everything that is
// shown is of the moment of the clock, and no event is there twice or early.
import { expect } from "vitest";
import { format, type Instant, minusMilliseconds, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { PastEvent, Sought } from "../../edges/web/replay/past-events.ts";
import { openReplay, type Questions, type Speed } from "../../edges/web/replay/replay-clock.ts";
import { type Scheduler, scheduler } from "../virtual/scheduler.ts";

const dayMs = 86_400_000;

interface Asked {
  readonly what: string;
  readonly to: Instant;
  /** Recorded times in the answer. */
  readonly held: readonly string[];
}

/** A server that knows the whole day, later things too, and answers after a while. */
export function replayFixture(
  given: { speed?: Speed; at?: Instant; to?: Instant; answerMs?: number; symbol?: string } = {},
) {
  const time: Scheduler = scheduler({ seed: 7 });
  const now = time.clock.now();
  const start = minusMilliseconds(now, dayMs);
  const events: PastEvent[] = [];
  const asked: Asked[] = [];
  let broken: unknown;
  let answerMs = given.answerMs ?? 20;
  const eventAt = (second: number, more: Partial<PastEvent> = {}): PastEvent => {
    const at = format(plusMilliseconds(start, second * 1_000));
    const event = {
      event_id: `e-${events.length}`,
      at,
      happened_at: at,
      kind: "fill",
      summary: "s",
      data: {},
      ...more,
    };
    events.push(event as PastEvent);
    return event as PastEvent;
  };
  const byTime = (from: Instant, to: Instant): PastEvent[] =>
    events
      .filter(({ at }) => parse(at) >= from && parse(at) <= to)
      .sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  async function answer<Value>(
    what: string,
    to: Instant,
    value: () => Value,
    held: (value: Value) => readonly string[],
  ) {
    await time.timers.sleep(answerMs);
    if (broken !== undefined) throw broken;
    const found = value();
    asked.push({ what, to, held: held(found) });
    return found;
  }
  const timesOf = (found: readonly PastEvent[]): readonly string[] => found.map(({ at }) => at);
  const matches = (sought: Sought) => (event: PastEvent) =>
    sought === "any" ||
    (sought === "halt" ? event.kind === "halt" : event.kind === "decision" && event.code !== undefined);
  const questions: Questions = {
    newest: (from, to) =>
      answer(
        "newest",
        to,
        () => ({ events: byTime(from, to), isCut: false }),
        ({ events: found }) => timesOf(found),
      ),
    between: (from, to) => answer("between", to, () => byTime(from, to), timesOf),
    first: (after, to, sought) =>
      answer(
        "first",
        to,
        () => byTime((after + 1) as Instant, to).find(matches(sought)),
        (found) => (found === undefined ? [] : [found.at]),
      ),
    moment: (at) =>
      answer(
        "moment",
        at,
        () => ({ at: format(at), nav: {}, positions: [], open_orders: [] }) as never,
        () => [],
      ),
    bars: (_symbol, _interval, at) =>
      answer(
        "bars",
        at,
        () => [{ start: format(minusMilliseconds(at, 1)) }] as never,
        () => [],
      ),
  };
  const replay = openReplay({
    clock: time.clock,
    timers: time.timers,
    questions,
    start,
    to: given.to,
    at: given.at ?? start,
    speed: given.speed ?? 60,
    symbol: given.symbol,
    interval: "1m",
  });
  const seen: { readonly at: Instant; readonly ids: readonly string[] }[] = [];
  replay.subscribe(() => {
    const { at, shown } = replay.state();
    if (shown === undefined) return;
    seen.push({ at, ids: shown.events.map(({ event_id }) => event_id) });
    // Rules 1 and 4, at every change.
    expect(shown.at).toBe(at);
    expect(shown.moment.at).toBe(format(at));
    expect(new Set(shown.events.map(({ event_id }) => event_id)).size).toBe(shown.events.length);
    for (const event of shown.events) expect(parse(event.at)).toBeLessThanOrEqual(at);
  });
  return {
    time,
    start,
    now,
    replay,
    asked,
    seen,
    questions,
    eventAt,
    secondOf: () => (replay.state().at - start) / 1_000_000,
    run: (ms: number) => time.run({ untilMs: time.elapsedMs() + ms }),
    break: (thrown: unknown) => {
      broken = thrown;
    },
    setAnswerMs: (ms: number) => {
      answerMs = ms;
    },
    ids: () => replay.state().shown?.events.map(({ event_id }) => event_id),
  };
}
