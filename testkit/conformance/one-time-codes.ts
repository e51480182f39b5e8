// The suite that every judge of one-time codes passes: one list of checks, each a promise of ports/one-time-codes.ts.
import { expect } from "vitest";
import type { Identity, NamedAction } from "../../ports/identity.ts";
import type { OneTimeCodes } from "../../ports/one-time-codes.ts";

export interface OneTimeCodesFixture {
  readonly codes: OneTimeCodes;
  /** Somebody with a second factor, and somebody without. */
  readonly duty: Identity;
  readonly nobody: Identity;
  codeNow(): string;
  wrongCode(): string;
  pass(ms: number): Promise<void>;
  /** Subjects of what was reported so far. */
  reported(): Promise<readonly string[]>;
}

const lifting: NamedAction = {
  action: "ResumeHalt",
  parameters: { kind: "ask", request_id: "", halt_ids: ["h-1", "h-2"] },
};

export const oneTimeCodesChecks: readonly {
  readonly sentence: string;
  run(fixture: OneTimeCodesFixture): Promise<void>;
}[] = [
  {
    sentence: "promise 1: a code is accepted once, and none that is older than it",
    async run({ codes, duty, codeNow, pass }) {
      const old = codeNow();
      await pass(30_000);
      const code = codeNow();
      expect(await codes.prove(duty, lifting, code)).toBeUndefined();
      expect(await codes.prove(duty, lifting, code)).toMatchObject({ code: "SECOND_FACTOR_WRONG" });
      expect(await codes.prove(duty, lifting, old)).toMatchObject({ code: "SECOND_FACTOR_WRONG" });
      await pass(30_000);
      expect(await codes.prove(duty, lifting, codeNow())).toBeUndefined();
    },
  },
  {
    sentence: "promise 1: five wrong ones in a row lock, also for the right one",
    async run({ codes, duty, codeNow, wrongCode, pass }) {
      for (const wrong of [wrongCode(), "", "x".repeat(4_000), "\u0000", wrongCode()]) {
        expect(await codes.prove(duty, lifting, wrong)).toMatchObject({ code: "SECOND_FACTOR_WRONG" });
      }
      expect(await codes.prove(duty, lifting, codeNow())).toMatchObject({ code: "SECOND_FACTOR_LOCKED" });
      await pass(90_000);
      expect(await codes.prove(duty, lifting, codeNow())).toBeUndefined();
    },
  },
  {
    sentence: "promise 2: whatever the answer is, there is an event of it",
    async run({ codes, duty, nobody, codeNow, wrongCode, reported }) {
      const before = (await reported()).length;
      expect(await codes.prove(nobody, lifting, "123456")).toMatchObject({ code: "SECOND_FACTOR_MISSING" });
      await codes.prove(duty, lifting, wrongCode());
      await codes.prove(duty, lifting, codeNow());
      expect((await reported()).slice(before).map((subject) => subject.split(".").at(-1))).toEqual([
        "refused",
        "refused",
        "granted",
      ]);
    },
  },
];
