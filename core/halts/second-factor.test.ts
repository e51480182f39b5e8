// The attempt machine against a slow model that remembers everything, over random histories.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromMicroseconds, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import { inputCount } from "../../testkit/full-count.ts";
import {
  type Attempt,
  type AttemptState,
  freshAttempts,
  judgeAttempt,
  lockMsAfter,
  type Verdict,
} from "./second-factor.ts";

const seed = 20_261_115;
const start = fromMicroseconds(1_800_000_000_000_000);

interface Judged {
  readonly attempt: Attempt;
  readonly verdict: Verdict;
  readonly before: AttemptState;
  readonly after: AttemptState;
}

/** Waits in milliseconds and what the code matched, relative to the step of that moment. */
const history = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 1_000_000 })),
    shown: fc.oneof(
      { weight: 5, arbitrary: fc.constant("nothing" as const) },
      { weight: 1, arbitrary: fc.constant("recovery code" as const) },
      { weight: 3, arbitrary: fc.integer({ min: -1, max: 1 }) },
    ),
  }),
  { maxLength: 80 },
);

function play(events: readonly { waitMs: number; shown: number | "nothing" | "recovery code" }[]): Judged[] {
  const judged: Judged[] = [];
  let at: Instant = start;
  let state = freshAttempts;
  for (const { waitMs, shown } of events) {
    at = plusMilliseconds(at, waitMs);
    const step = Math.floor(at / 30_000_000);
    const attempt: Attempt = { at, matched: typeof shown === "number" ? step + shown : shown };
    const { verdict, next } = judgeAttempt(state, attempt);
    judged.push({ attempt, verdict, before: state, after: next });
    state = next;
  }
  return judged;
}

const check = (property: (judged: readonly Judged[]) => void): void =>
  fc.assert(
    fc.property(history, (events) => property(play(events))),
    { seed, numRuns: inputCount(400) },
  );

const steps = (judged: readonly Judged[]): number[] =>
  judged.flatMap(({ verdict, attempt }) =>
    verdict.kind === "accepted" && typeof attempt.matched === "number" ? [attempt.matched] : [],
  );

describe(`second factor (seed ${seed})`, () => {
  it("1: accepts every step at most once and never goes back", () => {
    check((judged) => {
      const accepted = steps(judged);
      expect(accepted).toEqual([...new Set(accepted)].sort((left, right) => left - right));
    });
  });

  it("1: accepts every step at most once, whatever the clock does", () => {
    const jumps = fc.array(
      fc.record({
        jumpMs: fc.constantFrom(0, 0, 10_000, 30_000, 3_600_000, -3_600_000),
        shown: fc.integer({ min: -1, max: 1 }),
      }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(jumps, (events) => {
        const accepted: number[] = [];
        let at: Instant = start;
        let state = freshAttempts;
        for (const { jumpMs, shown } of events) {
          at = plusMilliseconds(at, jumpMs);
          const matched = Math.floor(at / 30_000_000) + shown;
          const { verdict, next } = judgeAttempt(state, { at, matched });
          if (verdict.kind === "accepted") accepted.push(matched);
          expect(next.usedSteps.length).toBeLessThanOrEqual(33);
          state = next;
        }
        expect(accepted).toHaveLength(new Set(accepted).size);
      }),
      { seed, numRuns: inputCount(400) },
    );
  });

  it("1: takes codes again when a clock that ran ahead was set back, and none that was used", () => {
    const step = Math.floor(start / 30_000_000);
    const shown = (state: AttemptState, matched: number) => judgeAttempt(state, { at: start, matched });
    const before = shown(freshAttempts, step).next;
    const ahead = judgeAttempt(before, { at: plusMilliseconds(start, 3_600_000), matched: step + 120 }).next;
    expect(shown(ahead, step).verdict.kind).toBe("replayed");
    const back = shown(ahead, step + 1);
    expect(back.verdict.kind).toBe("accepted");
    expect(shown(back.next, step).verdict.kind).toBe("replayed");
    expect(shown(back.next, step + 1).verdict.kind).toBe("replayed");
    // An hour later the code that was used while the clock ran ahead comes round.
    expect(shown(back.next, step + 120).verdict.kind).toBe("replayed");
    expect(shown(back.next, step + 121).verdict.kind).toBe("accepted");
    // What was kept before steps were remembered counts as used up to the last.
    expect(shown({ ...freshAttempts, lastStep: step + 120 }, step + 1).verdict.kind).toBe("replayed");
  });

  it("2: refuses everything while locked, whatever the code, and changes nothing", () => {
    check((judged) => {
      for (const { attempt, before } of judged.filter((one) => one.attempt.at < one.before.lockedUntil)) {
        const answers = (["nothing", "recovery code", 9e9] as const).map((matched) =>
          judgeAttempt(before, { ...attempt, matched }),
        );
        for (const { verdict, next } of answers) {
          expect(verdict).toEqual(answers[0]?.verdict);
          expect(verdict.kind).toBe("locked");
          expect(next).toBe(before);
        }
      }
    });
  });

  it("3 and 4: locks as a model that counts the whole history says", () => {
    check((judged) => {
      let wrongs = 0;
      let lockEnd = 0;
      for (const { attempt, verdict } of judged) {
        const expected =
          attempt.at < lockEnd ? "locked" : attempt.matched === "nothing" ? "wrong" : ["accepted", "replayed"];
        expect([expected].flat()).toContain(verdict.kind);
        if (verdict.kind === "locked") expect(verdict.retryAfterS).toBe(Math.ceil((lockEnd - attempt.at) / 1e6));
        if (verdict.kind === "accepted") wrongs = 0;
        if (verdict.kind === "wrong") {
          wrongs += 1;
          const lockS = [0, 0, 0, 0, 0, 60, 120, 240, 480][wrongs] ?? 900;
          if (lockS > 0) lockEnd = attempt.at + lockS * 1e6;
          expect(verdict.retryAfterS).toBe(lockS > 0 ? lockS : undefined);
        }
      }
    });
  });

  it("5: a used step changes nothing", () => {
    check((judged) => {
      for (const { verdict, before, after } of judged) if (verdict.kind === "replayed") expect(after).toBe(before);
    });
    const used: AttemptState = { ...freshAttempts, lastStep: 7, failures: 4 };
    expect(judgeAttempt(used, { matched: 7, at: start })).toEqual({ verdict: { kind: "replayed" }, next: used });
    expect(judgeAttempt(used, { matched: 6, at: start }).verdict.kind).toBe("replayed");
    expect(judgeAttempt(used, { matched: 8, at: start }).verdict.kind).toBe("accepted");
  });

  it("6: a lock of a clock that ran ahead ends as one of now", () => {
    const hourMs = 3_600_000;
    let state = freshAttempts;
    for (let count = 0; count < 6; count += 1) {
      const at = plusMilliseconds(start, hourMs + count * 200_000);
      state = judgeAttempt(state, { matched: "nothing", at }).next;
    }
    // The sixth wrong code locks for two minutes, an hour from now.
    const { verdict, next } = judgeAttempt(state, { matched: 7, at: start });
    expect(verdict).toEqual({ kind: "locked", retryAfterS: 120 });
    expect(judgeAttempt(next, { matched: 7, at: plusMilliseconds(start, 119_999) }).verdict.kind).toBe("locked");
    expect(judgeAttempt(next, { matched: 7, at: plusMilliseconds(start, 120_000) }).verdict.kind).toBe("accepted");
  });

  it("7: bounds the guesses of whoever never stops", () => {
    let state = freshAttempts;
    let guesses = 0;
    for (let second = 0; second < 24 * 3_600; second += 1) {
      const judged = judgeAttempt(state, { matched: "nothing", at: plusMilliseconds(start, second * 1_000) });
      if (judged.verdict.kind === "wrong") guesses += 1;
      state = judged.next;
    }
    expect(guesses).toBeGreaterThan(90);
    expect(guesses).toBeLessThanOrEqual(9 + 24 * 4);
    expect(lockMsAfter(1_000_000)).toBe(900_000);
  });

  it("is open again at the very end of a lock", () => {
    const locked: AttemptState = {
      ...freshAttempts,
      lastStep: 1,
      failures: 5,
      lockedUntil: plusMilliseconds(start, 1),
    };
    expect(judgeAttempt(locked, { matched: 2, at: start }).verdict).toEqual({ kind: "locked", retryAfterS: 1 });
    expect(judgeAttempt(locked, { matched: 2, at: plusMilliseconds(start, 1) }).verdict).toEqual({ kind: "accepted" });
  });
});
