// What watchdogs restrict, as the engine knows it. The list is read before anything is served, and again as often as the halts are; when the store has
// not answered for as long as makes halts unknown, restrictions are unknown, and new risk is denied.
//
//  1. Whether the list is young enough is judged at the moment of each check, so a busy event loop or a read that hangs cannot stretch it.
//  2. A clock that was set makes the list unknown until the next read: nothing says how old it is.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Restriction } from "../../contracts/src/records/restriction.ts";
import { toComparable } from "../../core/blocks/restriction.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Health } from "../../ports/health.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { SafetyLooks } from "./safety-looks.ts";

export interface RestrictionWatch {
  /** Call before each check. */
  freshen(at: Instant): void;
  health(): Health;
  stop(): Promise<void>;
}

type Ports = Pick<ServicePorts, "store" | "timers" | "clock" | "log" | "crash" | "settings">;

/** Resolves when the engine has them. */
export async function watchRestrictions(ports: Ports, engine: Engine, looks?: SafetyLooks): Promise<RestrictionWatch> {
  const { store, timers, clock, log } = ports;
  const { haltPollMs, haltUnknownMs } = ports.settings.risk;
  const ending = new AbortController();
  let heardAt = clock.now();
  let content = "[]";
  let known = true;
  let troubled = false;

  async function read(): Promise<void> {
    // The answer is as old as the question.
    const askedAt = clock.now();
    const ask = (unit: UnitOfWork): Promise<readonly Restriction[]> => unit.restrictions.listOpen();
    hear(await store.transact("riskengine.restrictions", ask, { isOneStatement: true }), askedAt);
  }

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

  async function readAlone(): Promise<void> {
    try {
      await read();
      troubled = false;
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      if (!troubled) log.warn("restrictions of watchdogs cannot be read", { error: messageOf(thrown) });
      troubled = true;
    }
  }

  async function watch(isInformed: () => boolean): Promise<void> {
    while (!ending.signal.aborted) {
      await timers.sleep(haltPollMs, ending.signal);
      if (!ending.signal.aborted && !isInformed()) await readAlone();
    }
  }

  await read();
  const follower = { question: "restrictions", everyMs: haltPollMs, hear, alone: readAlone } as const;
  const watching = watch(looks?.follow(follower) ?? (() => false));
  return {
    freshen,
    health() {
      freshen(clock.now());
      if (known) return { status: "ok" };
      return { status: "failing", complaint: "which restrictions of watchdogs are in force is not known" };
    },
    stop: async () => {
      ending.abort();
      await watching;
    },
  };
}
