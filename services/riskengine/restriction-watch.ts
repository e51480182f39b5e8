// What watchdogs restrict, as the engine knows it. The list is read before anything is served, and again as often as the halts are; when the store has
// not answered for as long as makes halts unknown, restrictions are unknown, and new risk is denied.
//
//  1. Whether the list is young enough is judged at the moment of each check, so a busy event loop or a read that hangs cannot stretch it.
//  2. A clock that was set makes the list unknown until the next read: nothing says how old it is.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import { toComparable } from "../../core/blocks/restriction.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Health } from "../../ports/health.ts";
import type { ServicePorts } from "../shared/service.ts";
import { type SafetyLooks, startReader } from "./safety-looks.ts";

export interface RestrictionWatch {
  /** Call before each check. */
  freshen(at: Instant): void;
  health(): Health;
  stop(): Promise<void>;
}

type Ports = Pick<ServicePorts, "store" | "timers" | "clock" | "log" | "crash" | "settings">;

/** Resolves when the engine has them. */
export async function watchRestrictions(ports: Ports, engine: Engine, looks?: SafetyLooks): Promise<RestrictionWatch> {
  const { store, clock, log } = ports;
  const { haltPollMs, haltUnknownMs } = ports.settings.risk;
  let heardAt = clock.now();
  let content = "[]";
  let known = true;

  const ask = (): Promise<readonly Restriction[]> =>
    store.transact("riskengine.restrictions", (unit) => unit.restrictions.listOpen(), { isOneStatement: true });

  function hear(open: readonly Restriction[], askedAt: Instant): void {
    const found = toComparable(open);
    if (found !== content) {
      engine.setRestrictions(open);
      content = found;
      log.info("restrictions of watchdogs have changed", { restrictions: open.length });
    }
    heardAt = askedAt;
    freshen(clock.now());
  }

  function freshen(at: Instant): void {
    const isKnown = Math.abs(millisecondsBetween(heardAt, at)) <= haltUnknownMs;
    if (isKnown === known) return;
    known = isKnown;
    engine.setConditions("age of restrictions", known ? [] : [{ code: "RESTRICTIONS_UNKNOWN", reason: "" }]);
    if (known) log.info("restrictions of watchdogs are known again");
    else log.error("restrictions of watchdogs are unknown: new risk is denied");
  }

  const trouble = {
    failing: "restrictions of watchdogs cannot be read",
    working: "restrictions of watchdogs can be read again",
  };
  const reader = await startReader(ports, looks, { question: "restrictions", everyMs: haltPollMs, ask, hear, trouble });
  return {
    freshen,
    health() {
      freshen(clock.now());
      if (known) return { status: "ok" };
      return { status: "failing", complaint: "which restrictions of watchdogs are in force is not known" };
    },
    stop: reader.stop,
  };
}
