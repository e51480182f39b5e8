// Refused attempts become events: changes only, bounded, never in the way of the refusal.
import { describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { OperatorAttempted } from "../../contracts/src/records/platform.ts";
import { operatorAttempted } from "../../contracts/src/records/platform.ts";
import type { EventWriter, Store, UnitOfWork } from "../../ports/store.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { systemClock } from "../system/clock.ts";
import { attemptSubject } from "./attempt-subject.ts";
import { createRefusedAttempts, stranger } from "./refused-attempts.ts";

const ada = { actor: "operator:ada", kind: "operator" } as const;
const refusal = {
  identity: ada,
  operation: "UpdateEnvelope",
  target: "/v1/riskengine/envelopes/alpha",
  code: "PERMISSION_DENIED",
  reason: "UpdateEnvelope needs the role risk_officer.",
} as const;

function open(isDown = false) {
  const reported: OperatorAttempted[] = [];
  let now: Instant = systemClock().now();
  const events: EventWriter = {
    publish: async (_subject, payload) => {
      reported.push(operatorAttempted.parse(payload));
      return "id";
    },
    publishFor: async () => "never",
  };
  const store: Pick<Store, "transact"> = {
    transact: async (_name, work) => {
      if (isDown) throw new Fault("STORE_UNAVAILABLE", "gone", { retry: "later" });
      return work({ events } as UnitOfWork);
    },
  };
  const die = (defect: Error): never => {
    throw defect;
  };
  const attempts = createRefusedAttempts({ store, clock: { now: () => now }, log: quietLog, crash: { die } });
  return { attempts, reported, pass: (ms: number) => (now = plusMilliseconds(now, ms)) };
}

describe("refused attempts", () => {
  it("are reported with who, what, where and why not", async () => {
    const { attempts, reported } = open();
    attempts.tell(refusal);
    attempts.tell({ ...refusal, target: `/x\n${"y".repeat(500)}`, reason: "z".repeat(5_000) });
    await attempts.close();
    expect(reported[0]).toMatchObject({
      operator: "operator:ada",
      verb: "UpdateEnvelope",
      target: refusal.target,
      allowed: false,
      code: "PERMISSION_DENIED",
      reason: refusal.reason,
    });
    expect(reported).toHaveLength(2);
  });

  it("are reported under what they were about, and the path stands beside it", async () => {
    const { attempts, reported } = open();
    attempts.tell({ ...refusal, about: "alpha" });
    await attempts.close();
    expect(reported[0]).toMatchObject({ target: "alpha", place: refusal.target });
  });

  it.each([
    [{ fund_id: "alpha" }, "alpha"],
    [{ fund_id: "alpha", strategy_id: "alpha-momentum", order_id: "" }, "alpha-momentum"],
    [{ reason: "x", envelope: { fund_id: "beta" } }, "beta"],
    [{ fund_id: "a\nb" }, undefined],
    [{ fund_id: { fund_id: 5 } }, undefined],
    [["alpha"], undefined],
    [undefined, undefined],
  ])("%j is about %s", (request, about) => {
    expect(attemptSubject(request)).toBe(about);
  });

  it("at reading are not reported", async () => {
    const { attempts, reported } = open();
    attempts.tell({ ...refusal, operation: "GetEnvelope" });
    await attempts.close();
    expect(reported).toEqual([]);
  });

  it("are bounded for each caller, and the next one says how many more there were", async () => {
    const { attempts, reported, pass } = open();
    for (let n = 0; n < 50; n += 1) attempts.tell(refusal);
    attempts.tell({ ...refusal, identity: { ...ada, actor: "operator:bob" } });
    await attempts.close();
    expect(reported).toHaveLength(21);
    pass(60_000);
    attempts.tell(refusal);
    await attempts.close();
    expect(reported.at(-1)?.reason).toBe(`${refusal.reason} (30 more were refused before.)`);
  });

  it("of strangers share one bound, whatever they try, and take nothing from anybody who is known", async () => {
    const { attempts, reported } = open();
    for (const operation of ["ResumeHalt", "RequestHalt", "UpdateEnvelope"] as const) {
      for (let n = 0; n < 20; n += 1) attempts.tell({ ...refusal, operation, identity: stranger });
    }
    attempts.tell(refusal);
    await attempts.close();
    expect(reported.map(({ operator }) => operator)).toEqual([...Array(20).fill("principal:nobody"), "operator:ada"]);
  });

  it("do not fail when the store is gone", async () => {
    const { attempts, reported } = open(true);
    attempts.tell(refusal);
    await attempts.close();
    expect(reported).toEqual([]);
  });
});
