// Halts and requests put where a row wants them, past every rule, on whatever store there is.
import { format } from "../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { Clock } from "../../ports/clock.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { HaltTableFixture } from "./fixture.ts";

export type Transact = <Value>(work: (unit: UnitOfWork) => Promise<Value>) => Promise<Value>;
type Scope = Pick<ActiveHalt, "severity" | "fund_id" | "strategy_id">;

export function createScenes(
  transact: Transact,
  { now }: Clock,
): Pick<HaltTableFixture, "stand" | "raise" | "expire" | "inForce" | "baselinesSetBy"> {
  let count = 0;

  async function latch(unit: UnitOfWork, scope: Scope): Promise<string> {
    count += 1;
    const halt_id = `h-${count}`;
    const halt = { ...scope, reason: "the scene", requested_by: "riskengine", halt_id, since: format(now()) };
    await unit.risk.latchHalt(halt);
    return halt_id;
  }

  async function clear(unit: UnitOfWork): Promise<void> {
    const { active } = await unit.risk.lockHalts();
    const ids = active.map(({ halt_id: id }) => id);
    if (ids.length > 0) await unit.risk.liftHalts(ids, now());
    const pending = await unit.halts.pendingResume();
    if (pending === undefined) return;
    await unit.halts.putResume({ ...pending, ended: { outcome: "void", by: "the scene", at: now() } });
  }

  return {
    stand: () =>
      transact(async (unit) => {
        await clear(unit);
        return {
          strategy: await latch(unit, {
            severity: "STRATEGY_HALT",
            fund_id: "alpha",
            strategy_id: "alpha-momentum",
          }),
          fund: await latch(unit, { severity: "FUND_HALT", fund_id: "alpha" }),
          firm: await latch(unit, { severity: "FIRM_HALT", fund_id: "" }),
        };
      }),
    raise: () =>
      transact(async (unit) => {
        await unit.risk.lockHalts();
        return latch(unit, { severity: "FUND_HALT", fund_id: "beta" });
      }),
    expire: (requestId) =>
      transact(async (unit) => {
        await unit.risk.lockHalts();
        const request = await unit.halts.resume(requestId);
        if (request === undefined) throw new Error("there is no such request");
        await unit.halts.putResume({ ...request, expiresAt: now() });
      }),
    baselinesSetBy: (fundId) =>
      transact(async (unit) => (await unit.losses.baselines(fundId, 100)).map(({ setBy }) => setBy)),
    inForce: () => transact(async (unit) => (await unit.risk.lockHalts()).active.map(({ halt_id: id }) => id)),
  };
}
