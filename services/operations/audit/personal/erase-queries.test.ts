// The command to erase: a reason, a proof for exactly this person, and a record in any case.
import { describe, expect, it } from "vitest";
import type { Denial } from "../../../../contracts/src/codes.ts";
import type { OperatorAttempted } from "../../../../contracts/src/records/platform.ts";
import type { NamedAction } from "../../../../ports/identity.ts";
import type { UnitOfWork } from "../../../../ports/store.ts";
import { eraseHandlers } from "./erase-queries.ts";

function open(denial?: Denial) {
  const reported: OperatorAttempted[] = [];
  const shown: [NamedAction, string | undefined][] = [];
  const erased: [string, string][] = [];
  const events = {
    publish: async (_subject: unknown, payload: unknown) => void reported.push(payload as OperatorAttempted),
  };
  const handlers = eraseHandlers({
    store: {
      transact: async (_name: string, work: (unit: UnitOfWork) => Promise<unknown>) => work({ events } as never),
    } as never,
    clock: { now: () => 0 as never },
    stepUps: {
      redeem: async (_identity, named, proof) => {
        shown.push([named, proof]);
        return denial;
      },
    },
    erase: async (person, actor) => {
      erased.push([person, actor]);
      return [7];
    },
  });
  const call = { identity: { actor: "operator:duty", kind: "operator" } } as never;
  const ask = async (request: object): Promise<unknown> => {
    const whole = {
      subject_id: "operator:ada",
      reason: "asked for",
      step_up_proof: "p",
      confirmation: "ERASE",
      ...request,
    };
    return handlers["EraseAuditSubject"]?.(whole as never, call);
  };
  return { ask, reported, shown, erased };
}

describe("EraseAuditSubject", () => {
  it("erases with a reason and a proof for this person, and leaves a record", async () => {
    const { ask, reported, shown, erased } = open();
    expect(await ask({})).toEqual({ subject_id: "operator:ada", sequences: [7] });
    expect(shown).toEqual([[{ action: "EraseAuditSubject", parameters: { subject_id: "operator:ada" } }, "p"]]);
    expect(erased).toEqual([["operator:ada", "operator:duty"]]);
    expect(reported).toMatchObject([
      { verb: "EraseAuditSubject", target: "operator:ada", allowed: true, reason: "asked for" },
    ]);
  });

  it("erases nothing without a reason or with a proof that does not fit, and leaves a record of the attempt", async () => {
    const denial = { code: "STEP_UP_WRONG", reason: "no" } as const;
    for (const [fixture, request, code] of [
      [open(), { reason: " \n" }, "REASON_MISSING"],
      [open(), { confirmation: "" }, "CONFIRMATION_WRONG"],
      [open(), { confirmation: "erase" }, "CONFIRMATION_WRONG"],
      [open(denial), {}, "STEP_UP_WRONG"],
    ] as const) {
      expect(await fixture.ask(request)).toMatchObject({ denial: { code }, isReported: true });
      expect(fixture.reported).toMatchObject([{ allowed: false, code }]);
      expect(fixture.erased).toEqual([]);
    }
  });

  it("22.11: a wrong word uses no proof up", async () => {
    const { ask, shown } = open();
    expect(await ask({ confirmation: "ERASE " })).toMatchObject({ denial: { code: "CONFIRMATION_WRONG" } });
    expect(shown).toEqual([]);
  });

  it("refuses what is no name of a person", async () => {
    const { ask, reported } = open();
    await expect(ask({ subject_id: "" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ask({ subject_id: "x".repeat(257) })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(reported).toEqual([]);
  });
});
