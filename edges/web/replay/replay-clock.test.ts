// The clock of a replay in virtual time: it goes as fast as it says, ends where it must, stops where nothing answers, and what is shown is of its moment, each
// event once and none early.
import { describe, expect, it } from "vitest";
import { earlier, format, minusMilliseconds, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { replayFixture } from "../../../testkit/web/replay-fixture.ts";
import type { PastMoment } from "./past-answers.ts";
import type { PastEvent } from "./past-events.ts";
import { speeds } from "./replay-clock.ts";

const dayMs = 86_400_000;
describe("played", () => {
  it.each(speeds)("at %s it passes so many seconds in one", async (speed) => {
    const { replay, run, secondOf } = replayFixture({ speed });
    await run(100);
    replay.play();
    await run(10_100);
    expect(secondOf()).toBe(10 * speed);
    expect(replay.state().isPlaying).toBe(true);
  });

  it("goes as fast when answers take longer than a second, and never on without one", async () => {
    const { replay, run, secondOf, setAnswerMs } = replayFixture({ speed: 10 });
    await run(100);
    setAnswerMs(2_500);
    replay.play();
    await run(3_600);
    expect(secondOf()).toBe(10);
    await run(8_000);
    expect(secondOf()).toBe(85);
  });

  it("does not leap after a page that stood still", async () => {
    const { replay, time, run, secondOf } = replayFixture({ speed: 1 });
    await run(100);
    replay.play();
    await run(500);
    time.stepClock(3_600_000);
    await run(700);
    expect(secondOf()).toBe(5);
  });

  it("shows each event once, when its time has come, those of one moment together and late ones where they were learned of", async () => {
    const { replay, run, seen, eventAt, ids, asked } = replayFixture({ speed: 60 });
    for (const second of [30, 61, 61, 130, 300, 301]) eventAt(second);
    await run(100);
    expect(ids()).toEqual([]);
    replay.play();
    await run(5_100);
    expect(ids()).toEqual(["e-0", "e-1", "e-2", "e-3", "e-4"]);
    const grown = seen.map(({ ids: shown }) => shown.length);
    expect(grown).toEqual(grown.toSorted((one, other) => one - other));
    // Every question carried a moment, and no answer held anything later than it.
    for (const { to, held } of asked) for (const at of held) expect(parse(at)).toBeLessThanOrEqual(to);
    expect(Math.max(...asked.map(({ to }) => to))).toBe(replay.state().at);
  });

  it("ends at `to`", async () => {
    const { replay, start, run, secondOf } = replayFixture({
      speed: 600,
      to: plusMilliseconds(parse("2026-01-01T00:00:00Z"), 3_000_000),
    });
    await run(100);
    replay.play();
    await run(60_000);
    expect(secondOf()).toBe(3_000);
    expect(replay.state()).toMatchObject({ isPlaying: false, isEnded: true });
    expect(replay.end()).toBe(plusMilliseconds(start, 3_000_000));
    replay.play();
    await run(100);
    expect(secondOf()).toBe(0);
    expect(replay.state().isPlaying).toBe(true);
  });

  it("ends at now, and asks for nothing later", async () => {
    const { replay, time, run, asked, now } = replayFixture({
      speed: 3_600,
      at: minusMilliseconds(parse("2026-01-02T00:00:00Z"), 5_400_000),
    });
    await run(100);
    replay.play();
    await run(10_000);
    expect(replay.state()).toMatchObject({ isPlaying: false, isEnded: true });
    expect(replay.state().at).toBeGreaterThan(now);
    for (const { to } of asked) expect(to).toBeLessThanOrEqual(time.clock.now());
  });

  it("begins anew where it was opened at now, and stands at its end meanwhile", async () => {
    const { replay, run, secondOf } = replayFixture({ speed: 60, at: parse("2026-01-02T00:00:00Z") });
    await run(20_000);
    expect(replay.state()).toMatchObject({ isEnded: true, isPlaying: false });
    replay.play();
    await run(1_100);
    expect(secondOf()).toBe(60);
  });

  it("finds near now also what came to be known under an earlier time than what was shown", async () => {
    const { replay, run, eventAt, ids, start } = replayFixture({
      speed: 1,
      at: minusMilliseconds(parse("2026-01-02T00:00:00Z"), 5_000),
    });
    eventAt(dayMs / 1_000 - 6);
    await run(100);
    expect(ids()).toEqual(["e-0"]);
    eventAt(dayMs / 1_000 - 5.5);
    replay.play();
    await run(2_100);
    expect(ids()).toEqual(["e-0", "e-1"]);
    expect(replay.state().at).toBe(plusMilliseconds(start, dayMs - 3_000));
  });

  it("is paused where it stands, whatever is on its way", async () => {
    const { replay, run, secondOf } = replayFixture({ speed: 10, answerMs: 300 });
    await run(400);
    replay.play();
    await run(1_100);
    replay.pause();
    await run(5_000);
    expect(secondOf()).toBe(0);
    replay.play();
    await run(1_400);
    expect(secondOf()).toBe(10);
  });
});

describe("stepped", () => {
  it("goes to the next event, asks for that one alone, and back takes it off", async () => {
    const { replay, run, eventAt, ids, asked, secondOf } = replayFixture();
    for (const second of [100, 5_000, 80_000]) eventAt(second);
    await run(100);
    replay.step();
    await run(100);
    expect([ids(), secondOf()]).toEqual([["e-0"], 100]);
    replay.step();
    await run(100);
    expect([ids(), secondOf()]).toEqual([["e-0", "e-1"], 5_000]);
    for (const { held } of asked) for (const at of held) expect(parse(at)).toBeLessThanOrEqual(replay.state().at);
    replay.back();
    await run(100);
    expect([ids(), secondOf(), replay.state().shown?.isBack]).toEqual([["e-0"], 100, true]);
    replay.back();
    await run(100);
    expect([ids(), secondOf()]).toEqual([[], 0]);
    replay.back();
    await run(100);
    expect([secondOf(), replay.state().said]).toEqual([0, "This is the beginning."]);
  });

  it("counts presses that come while one is under way", async () => {
    const { replay, run, eventAt, ids } = replayFixture();
    for (const second of [100, 200, 300, 400]) eventAt(second);
    await run(100);
    for (let n = 0; n < 3; n += 1) replay.step();
    await run(500);
    expect(ids()).toEqual(["e-0", "e-1", "e-2"]);
    replay.back();
    replay.back();
    await run(100);
    expect(ids()).toEqual(["e-0"]);
  });

  it("says when nothing more came, and stands", async () => {
    const { replay, run, secondOf } = replayFixture();
    await run(100);
    replay.step();
    await run(100);
    expect(replay.state().said).toMatch(/^Nothing more was recorded until 2026-01-02T/);
    expect(secondOf()).toBe(0);
  });

  it("stops what plays", async () => {
    const { replay, run, eventAt, secondOf } = replayFixture({ speed: 1 });
    eventAt(500);
    await run(100);
    replay.play();
    await run(1_500);
    replay.step();
    await run(5_000);
    expect([secondOf(), replay.state().isPlaying]).toEqual([500, false]);
  });
});

describe("a jump", () => {
  it("leads to the next halt or rejection, from the beginning after the last, and knows nothing later", async () => {
    const { replay, run, eventAt, secondOf, asked } = replayFixture();
    eventAt(10, { kind: "halt" });
    eventAt(20, { kind: "decision" });
    eventAt(30, { kind: "decision", code: "MAX_NOTIONAL" });
    eventAt(40, { kind: "halt" });
    await run(100);
    const jump = async (sought: "halt" | "rejection"): Promise<number> => {
      const before = asked.length;
      replay.jump(sought);
      await run(200);
      for (const { held } of asked.slice(before))
        for (const at of held) expect(parse(at)).toBeLessThanOrEqual(replay.state().at);
      return secondOf();
    };
    expect(await jump("halt")).toBe(10);
    expect(await jump("rejection")).toBe(30);
    expect(await jump("halt")).toBe(40);
    expect(await jump("halt")).toBe(10);
    expect(await jump("rejection")).toBe(30);
  });

  it("says when there is none, and stands", async () => {
    const { replay, run, secondOf, start } = replayFixture();
    await run(100);
    replay.jump("rejection");
    await run(200);
    expect(secondOf()).toBe(0);
    expect(replay.state().said).toContain(`No rejection was recorded from ${format(start)}`);
  });
});

describe("sought", () => {
  it("a moment is within the range, and what was asked before is left", async () => {
    const { replay, run, eventAt, ids, secondOf, now, start } = replayFixture();
    eventAt(100);
    eventAt(50_000);
    await run(100);
    replay.seek(plusMilliseconds(start, 60_000_000));
    replay.seek(plusMilliseconds(start, 200_000));
    await run(100);
    expect([ids(), secondOf()]).toEqual([["e-0"], 200]);
    replay.seek(plusMilliseconds(now, dayMs));
    await run(100);
    expect(replay.state().at).toBe(earlier(replay.end(), plusMilliseconds(now, 200)));
    replay.seek(minusMilliseconds(start, dayMs));
    await run(100);
    expect(secondOf()).toBe(0);
  });

  it("while it plays, it plays on from there", async () => {
    const { replay, run, secondOf, start } = replayFixture({ speed: 1 });
    await run(100);
    replay.play();
    await run(1_500);
    replay.seek(plusMilliseconds(start, 1_000_000));
    await run(3_100);
    expect(secondOf()).toBe(1_003);
  });
});

describe("a question without an answer", () => {
  it("stops the clock where it stands, keeps what is shown, and it goes on from there with nothing twice", async () => {
    const { replay, run, eventAt, ids, secondOf, break: breakIt } = replayFixture({ speed: 60 });
    for (const second of [30, 90, 150, 210]) eventAt(second);
    await run(100);
    replay.play();
    await run(2_100);
    const thrown = new Error("operations is away");
    breakIt(thrown);
    await run(3_000);
    expect(secondOf()).toBe(120);
    expect(replay.state()).toMatchObject({ isPlaying: false, isAsking: false });
    expect(replay.state().failures).toEqual({ timeline: thrown, moment: thrown });
    expect(ids()).toEqual(["e-0", "e-1"]);
    await run(60_000);
    expect(secondOf()).toBe(120);
    breakIt(undefined);
    replay.again();
    await run(100);
    expect([secondOf(), replay.state().failures]).toEqual([180, {}]);
    replay.play();
    await run(1_100);
    expect([secondOf(), ids()]).toEqual([240, ["e-0", "e-1", "e-2", "e-3"]]);
  });

  it("of a step is asked again as a step", async () => {
    const { replay, run, eventAt, secondOf, break: breakIt } = replayFixture();
    eventAt(77);
    await run(100);
    breakIt(new Error("away"));
    replay.step();
    await run(100);
    expect([secondOf(), Object.keys(replay.state().failures)]).toEqual([0, ["timeline"]]);
    breakIt(undefined);
    replay.again();
    await run(100);
    expect(secondOf()).toBe(77);
  });

  it("at the very beginning shows nothing, until it is asked again", async () => {
    const { replay, run, break: breakIt } = replayFixture();
    breakIt(new Error("away"));
    await run(100);
    expect(replay.state().shown).toBeUndefined();
    breakIt(undefined);
    replay.play();
    await run(1_200);
    expect(replay.state().shown).toBeDefined();
  });

  it("is also one with something later in it: it is not shown", async () => {
    const { replay, run, questions, start, ids } = replayFixture({ speed: 1 });
    await run(100);
    const early = { event_id: "early", at: format(plusMilliseconds(start, 9_000)) } as PastEvent;
    questions.between = async () => [early];
    replay.play();
    await run(2_000);
    expect(String(replay.state().failures.timeline)).toContain("later than");
    expect([ids(), replay.state().isPlaying]).toEqual([[], false]);
    questions.between = async () => [];
    questions.moment = async (at) =>
      ({ at: format(at), nav: { as_of: format(plusMilliseconds(at, 1)) }, positions: [] }) as never as PastMoment;
    replay.again();
    await run(100);
    expect(String(replay.state().failures.moment)).toContain("later than");
  });
});

describe("the chart", () => {
  it("is of the first symbol that is known where none was chosen, and stays with it", async () => {
    const { replay, run, eventAt } = replayFixture();
    eventAt(10, { symbol: "MSFT" });
    eventAt(20, { symbol: "AAPL" });
    await run(100);
    expect(replay.state().shown).toMatchObject({ symbol: undefined, bars: undefined });
    replay.step();
    await run(100);
    expect(replay.state().shown?.symbol).toBe("MSFT");
    replay.step();
    await run(100);
    expect(replay.state().shown?.symbol).toBe("MSFT");
    replay.setChart("AAPL", "5m");
    await run(100);
    expect(replay.state().shown).toMatchObject({ symbol: "AAPL", interval: "5m" });
  });

  it("of a symbol that there is not keeps nothing else from going on", async () => {
    const { replay, run, questions, eventAt, ids, secondOf } = replayFixture({ symbol: "NONE", speed: 60 });
    eventAt(60);
    questions.bars = () => Promise.reject(Object.assign(new Error("There is no instrument"), { status: 404 }));
    await run(100);
    replay.play();
    await run(2_100);
    expect([ids(), secondOf(), replay.state().isPlaying]).toEqual([["e-0"], 120, true]);
    expect(replay.state().failures.chart).toBeDefined();
  });
});
