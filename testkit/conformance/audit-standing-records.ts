// The suite that every store passes with how the audit log stands: ports/audit-standing.ts.
import { expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { AuditStanding } from "../../ports/audit-standing.ts";
import type { Store } from "../../ports/store.ts";
import { rejection } from "./waiting.ts";

export interface AuditStandingFixture {
  readonly store: Store;
  close(): Promise<void>;
}

export function auditStandingConformance(name: string, open: () => Promise<AuditStandingFixture>): void {
  it(`audit standing, ${name}: none at first, the newest writer's counts, time never goes back, a failed unit leaves nothing`, async () => {
    const { store, close } = await open();
    const at = (second: number) => fromMicroseconds(1_700_000_000_000_000 + second * 1_000_000);
    const read = () => store.transact("conformance.look", (unit) => unit.auditStanding.read());
    const report = (standing: AuditStanding) =>
      store.transact("conformance.report", (unit) => unit.auditStanding.report(standing));
    try {
      expect(await read()).toBeUndefined();
      const broken = { reason: "TRUNCATED at 5:\u0000 expected \u{1f512}", since: at(2) };
      expect(await report({ writerEpoch: 2, through: at(1), broken })).toBe(true);
      expect(await read()).toEqual({ writerEpoch: 2, through: at(1), broken });
      expect(await report({ writerEpoch: 2, through: at(0) })).toBe(true);
      expect(await read()).toEqual({ writerEpoch: 2, through: at(1) });
      expect(await report({ writerEpoch: 1, through: at(9), broken })).toBe(false);
      expect(await read()).toEqual({ writerEpoch: 2, through: at(1) });
      const failing = store.transact("conformance.fails", async (unit) => {
        await unit.auditStanding.report({ writerEpoch: 4, through: at(8), broken });
        expect(await unit.auditStanding.read()).toEqual({ writerEpoch: 4, through: at(8), broken });
        throw new Error("a change of mind");
      });
      expect(await rejection(failing, "a failing unit")).toMatchObject({ message: "a change of mind" });
      expect(await report({ writerEpoch: 3, through: at(4) })).toBe(true);
      expect(await read()).toEqual({ writerEpoch: 3, through: at(4) });
    } finally {
      await close();
    }
  });
}
