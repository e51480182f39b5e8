// Checks of what a store keeps of halts: lifts and their epochs, who reported a halt, proven steps, and requests to lift them all.
import { expect } from "vitest";
import type { Instant } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { StoredResume } from "../../ports/halt-records.ts";
import type { Store, UnitOfWork } from "../../ports/store.ts";
import type { StoreCheck } from "./store-fixture.ts";
import { rejection, transactPatiently } from "./waiting.ts";

const at = (second: number): Instant => (second * 1_000_000) as Instant;
const run = <T>(store: Store, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
  transactPatiently(store, "conformance.halts", work);

const halt = (id: string): Omit<ActiveHalt, "epoch"> => ({
  severity: "FUND_HALT",
  fund_id: "alpha",
  reason: "r",
  requested_by: "x",
  halt_id: id,
  since: "2026-01-02T00:00:00.000000Z",
});

const haltsAreLifted: StoreCheck = {
  promise: 1,
  sentence: "halts are lifted together under one new epoch, all or none, and a lifted one is never in force again",
  async run(fixture) {
    const { store } = fixture;
    for (const id of ["h-1", "h-2", "h-3"]) await run(store, (unit) => unit.risk.latchHalt(halt(id)));
    const before = await run(store, (unit) => unit.risk.lockHalts());
    const unknown = store.transact("conformance.halts", (unit) => unit.risk.liftHalts(["h-1", "h-9"], at(1)));
    await rejection(unknown, "lifting an unknown one");
    expect(await run(store, (unit) => unit.risk.lockHalts())).toEqual(before);
    const failing = store.transact("conformance.halts", async (unit) => {
      await unit.risk.liftHalts(["h-1"], at(1));
      expect((await unit.risk.lockHalts()).active.map(({ halt_id: id }) => id)).toEqual(["h-2", "h-3"]);
      throw new Error("planned");
    });
    await rejection(failing, "the failing work");
    expect(await run(store, (unit) => unit.risk.lockHalts())).toEqual(before);
    const epoch = await run(store, (unit) => unit.risk.liftHalts(["h-1", "h-3"], at(2)));
    expect(epoch).toBe(before.epoch + 1);
    const after = await run(await fixture.reopen(), async (unit) => {
      // The same id again is the halt that was lifted, not a new one.
      expect(await unit.risk.latchHalt(halt("h-1"))).toMatchObject({ epoch: before.epoch - 2 });
      return unit.risk.lockHalts();
    });
    expect(after).toMatchObject({ epoch, active: [{ halt_id: "h-2" }] });
    expect(after.active).toHaveLength(1);
  },
};

const reportedAndProvenOnce: StoreCheck = {
  promise: 1,
  sentence: "who reported a halt and what was proven about it is kept once, the first time",
  async run(fixture) {
    const reported = {
      haltId: "h-1",
      publisher: "riskengine",
      eventId: "00000000-0000-4000-8000-000000000001",
    } as const;
    const other = { ...reported, publisher: "operations", eventId: "00000000-0000-4000-8000-000000000002" } as const;
    const step = { haltId: "h-1", step: "BLOCKED", detail: "seen", at: at(3) } as const;
    await run(fixture.store, async (unit) => {
      expect(await unit.halts.tell(reported)).toBe(true);
      expect(await unit.halts.tell({ ...reported, eventId: other.eventId })).toBe(false);
      expect(await unit.halts.prove(step)).toBe(true);
    });
    await run(fixture.store, async (unit) => {
      expect(await unit.halts.tell(other)).toBe(true);
      expect(await unit.halts.prove({ ...step, detail: "again", at: at(9) })).toBe(false);
      expect(await unit.halts.prove({ ...step, step: "NOTIFIED", at: at(2) })).toBe(true);
      expect(await unit.halts.prove({ ...step, haltId: "h-2", at: at(1) })).toBe(true);
    });
    await run(await fixture.reopen(), async (unit) => {
      expect(await unit.halts.reported(["h-1", "h-9"])).toEqual([other, reported]);
      expect(await unit.halts.proven(["h-1"])).toEqual([{ ...step, step: "NOTIFIED", at: at(2) }, step]);
      expect(await unit.halts.proven([])).toEqual([]);
    });
  },
};

const resumesAreKept: StoreCheck = {
  promise: 1,
  sentence: "a request to lift every halt waits until it has ended, and one waits at a time",
  async run(fixture) {
    const request: StoredResume = {
      requestId: "r-1",
      haltIds: ["h-1", "h-2"],
      epoch: 2,
      reason: "over",
      rebase: true,
      requestedBy: "operator:duty",
      subject: "1",
      at: at(1),
      expiresAt: at(901),
    };
    const ended: StoredResume = { ...request, ended: { outcome: "replaced", by: "operator:relief", at: at(5) } };
    const next: StoredResume = { ...request, requestId: "r-2", at: at(5) };
    await run(fixture.store, (unit) => unit.halts.putResume(request));
    expect(await run(fixture.store, (unit) => unit.halts.pendingResume())).toEqual(request);
    await run(fixture.store, async (unit) => {
      await unit.halts.putResume(ended);
      await unit.halts.putResume(next);
    });
    await run(await fixture.reopen(), async (unit) => {
      expect(await unit.halts.resume("r-1")).toEqual(ended);
      expect(await unit.halts.resume("r-9")).toBeUndefined();
      expect(await unit.halts.pendingResume()).toEqual(next);
    });
  },
};

const resumesAskedAtOnce: StoreCheck = {
  promise: 4,
  sentence: "requests to lift every halt that are made at once replace each other one after the other",
  async run(fixture) {
    const askFor = (requestId: string): Promise<void> =>
      run(fixture.store, async (unit) => {
        await unit.risk.lockHalts();
        const before = await unit.halts.pendingResume();
        const ended = { outcome: "replaced", by: "operator:relief", at: at(5) } as const;
        if (before !== undefined) await unit.halts.putResume({ ...before, ended });
        await unit.halts.putResume({
          requestId,
          haltIds: ["h-1"],
          epoch: 1,
          reason: "over",
          rebase: false,
          requestedBy: "operator:duty",
          subject: "1",
          at: at(1),
          expiresAt: at(901),
        });
      });
    const ids = ["r-1", "r-2", "r-3", "r-4"];
    await Promise.all(ids.map(askFor));
    const kept = await run(fixture.store, (unit) => Promise.all(ids.map((id) => unit.halts.resume(id))));
    expect(kept.filter((one) => one?.ended !== undefined)).toHaveLength(3);
    expect(kept.filter((one) => one !== undefined && one.ended === undefined)).toHaveLength(1);
  },
};

export const haltRecordChecks: readonly StoreCheck[] = [
  haltsAreLifted,
  reportedAndProvenOnce,
  resumesAreKept,
  resumesAskedAtOnce,
];
