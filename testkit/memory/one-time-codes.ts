// One-time codes without anybody's telephone: who has a second factor, and what its code is at a moment, is known to whoever made this. Judged by the
// same rules as the real ones (core/halts/second-factor.ts), and remembered by the world, so that a restart forgets no used code and no lock.
import type { Denial } from "../../contracts/src/codes.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { type AttemptState, freshAttempts, judgeAttempt } from "../../core/halts/second-factor.ts";
import type { Clock } from "../../ports/clock.ts";
import type { OneTimeCodes } from "../../ports/one-time-codes.ts";
import type { Store } from "../../ports/store.ts";

/** What would be on disk: the attempts of everybody who has a second factor, by their subjects. */
export type CodeTables = Map<string, AttemptState>;

export interface MemoryOneTimeCodesOptions {
  readonly codes: CodeTables;
  readonly clock: Clock;
  /** The gateway's, which tells of what was judged. */
  readonly store: Store;
}

const stepMs = 30_000;
/** Nobody here compares parameters. */
const noHash = "0".repeat(64);

const stepAt = (at: Instant): number => Math.floor(at / 1_000 / stepMs);

/** A person's code at that moment: six digits, another one every half minute. */
export function memoryCode(subject: string, at: Instant): string {
  return codeOfStep(subject, stepAt(at));
}

function codeOfStep(subject: string, step: number): string {
  let mixed = step;
  for (const character of subject) mixed = (mixed * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return String(mixed % 1_000_000).padStart(6, "0");
}

export function memoryOneTimeCodes({ codes, clock, store }: MemoryOneTimeCodesOptions): OneTimeCodes {
  function judge(subject: string, code: string, at: Instant): Denial | undefined {
    const state = codes.get(subject);
    if (state === undefined) return denied("SECOND_FACTOR_MISSING");
    const now = stepAt(at);
    const step = [now, now - 1, now + 1].find((one) => codeOfStep(subject, one) === code);
    const { verdict, next } = judgeAttempt(state, { matched: step ?? "nothing", at });
    codes.set(subject, next);
    if (verdict.kind === "accepted") return undefined;
    return denied(verdict.kind === "locked" ? "SECOND_FACTOR_LOCKED" : "SECOND_FACTOR_WRONG");
  }

  return {
    async prove(identity, named, code) {
      const at = clock.now();
      // Once, however often the store runs its work: whoever hangs up has used the code all the same.
      const denial = judge(identity.subject, code, at);
      const tried = {
        operator: identity.actor,
        action: named.action,
        parameters_hash: noHash,
        factor: "totp" as const,
        at: format(at),
      };
      await store.transact("identity.code_answer", (unit) =>
        denial === undefined
          ? unit.events.publish(subjects.stepUpGranted, tried)
          : unit.events.publish(subjects.stepUpRefused, { ...tried, code: denial.code }),
      );
      return denial;
    },
  };
}

/** Gives somebody a second factor. */
export function enrol(codes: CodeTables, subject: string): void {
  codes.set(subject, freshAttempts);
}

function denied(code: "SECOND_FACTOR_MISSING" | "SECOND_FACTOR_WRONG" | "SECOND_FACTOR_LOCKED"): Denial {
  return { code, reason: "The code was not accepted." };
}
