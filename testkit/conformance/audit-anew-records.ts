// The suite that every store passes with requests to begin the audit log anew: ports/audit-anew.ts.
import { describe, expect, it } from "vitest";
import { fromMicroseconds } from "../../contracts/src/instant.ts";
import type { StoredAnew } from "../../ports/audit-anew.ts";
import type { Store } from "../../ports/store.ts";

export interface AuditAnewFixture {
  readonly store: Store;
  close(): Promise<void>;
}

const at = (us: number) => fromMicroseconds(1_800_000_000_000_000 + us);

export function auditAnewConformance(name: string, open: () => Promise<AuditAnewFixture>): void {
  describe(`requests to begin the audit log anew: ${name}`, () => {
    it("are kept as they were made, and one that nobody made is not there", async () => {
      const { store, close } = await open();
      const request: StoredAnew = {
        requestId: "anew-1",
        log: 1,
        origin: "portcullis/audit/x",
        reason: "größer\n\"'",
        requestedBy: "operator:ada",
        subject: "ada",
        at: at(1),
        expiresAt: at(2),
      };
      try {
        const seen = await store.transact("conformance.put", async (unit) => {
          await unit.auditAnew.put(request);
          return unit.auditAnew.request("anew-1");
        });
        expect(seen).toEqual(request);
        const look = (id: string) => store.transact("conformance.look", (unit) => unit.auditAnew.request(id));
        expect(await look("anew-1")).toEqual(request);
        expect(await look("anew-2")).toBeUndefined();
      } finally {
        await close();
      }
    });
  });
}
