// Drills: a halt of a fund of their own, tripped like every other, measured, recorded and lifted again. Nobody else's fund is touched.
//
//  1. One at a time; who asks while one runs gets that one's answer.
//  2. Only halts of the drill's own fund are lifted here, by the transaction that records what was measured: the one lift that no person makes.
//  3. A drill whose process died is found by the halt that it left: that is lifted, and recorded as a drill that failed.
//  4. None begins under a firm halt, by itself or by hand: every order is refused then, so it could only fail, and alarm in the middle of an incident.
import type { Denial } from "../../../contracts/src/codes.ts";
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type {
  Drill,
  Drills,
  ListDrillsRequest,
  RunDrillRequest,
} from "../../../contracts/src/generated/svc/v1/haltdesk.ts";
import { format, millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import type { ActiveHalt, DrillMeasured } from "../../../contracts/src/records/halt.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { isDrill } from "../../../core/halts/halts.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { createAttempts } from "../../shared/attempts.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { givenReason } from "../worker-verbs.ts";
import { clearProbe, type DrillOptions, measureDrill } from "./measure-drill.ts";

const lookEveryMs = 60_000;
const hourMs = 3_600_000;
const countDefault = 100;
/** One more than a page of HTTP, which tells whether there is another. */
const countMaxMax = 1_001;
const machine = "service:operations";

/** The code that the drill's own order would be refused with. */
const firmHalted: Denial = {
  code: "ORDER_HALTED",
  reason:
    "The firm is halted, so every order of a drill would be refused and nothing could be measured: no drill was begun. " +
    "`ctl riskengine halts list` shows the halts; run it again once they are lifted.",
};

interface DrillsOptions extends Omit<DrillOptions, "ports"> {
  readonly ports: DrillOptions["ports"] & Pick<ServicePorts, "random" | "crash" | "riskStore" | "settings">;
  readonly alarms: WorkerAlarms;
}

interface RunningDrills {
  readonly handlers: Pick<RpcService["handlers"], "RunDrill" | "ListDrills">;
  stop(): Promise<void>;
}

export function startDrills(options: DrillsOptions): RunningDrills {
  const { ports, alarms } = options;
  const { store, clock, riskStore, log } = ports;
  const attempts = createAttempts(ports, "halts");
  const everyMs = ports.settings.drills.everyHours * hourMs;
  const ending = new AbortController();
  let running: Promise<DrillMeasured> | undefined;
  let hasLooked = false;

  /** Records and lifts in one transaction. A halt that came after its drill was recorded is lifted all the same. */
  async function close(drill: DrillMeasured): Promise<void> {
    await transactToKnownEnd(ports, "drill.measure", async (unit) => {
      const { active } = await unit.risk.lockHalts();
      if (await unit.drills.insert(drill)) await unit.events.publish(subjects.drillMeasured, drill);
      await lift(unit, active.filter(isDrill), drill, clock);
    });
    try {
      await clearProbe(options, drill.drill_id);
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      const facts = { drill: drill.drill_id, error: messageOf(thrown) };
      log.warn("what is left of a drill's orders could not be cancelled", facts);
    }
    if (drill.passed) return;
    const sentence = `The halt drill ${drill.drill_id} failed: ${drill.complaint}`;
    await alarms.raise("DRILL_FAILED", drill.drill_id, sentence);
  }

  async function drillOnce(requestedBy: string, reason: string): Promise<DrillMeasured> {
    const drillId = `drill-${ports.random.uuid()}`;
    const drill = await measureDrill(options, { drillId, requestedBy, reason }, ending.signal);
    await close(drill);
    return drill;
  }

  function run(requestedBy: string, reason: string): Promise<DrillMeasured> {
    running ??= drillOnce(requestedBy, reason).finally(() => {
      running = undefined;
    });
    return running;
  }

  /** A drill that did not end by itself left its halt behind. */
  async function sweep(): Promise<void> {
    const left = (await riskStore.halts()).active.filter(isDrill);
    for (const halt of left) if (running === undefined) await close(abandoned(halt));
  }

  async function isDue(): Promise<boolean> {
    if (everyMs === 0) return false;
    const [newest] = await store.transact("drill.look", (unit) => unit.drills.newest(1));
    if (newest !== undefined && millisecondsBetween(parse(newest.at), clock.now()) < everyMs) return false;
    return !(await isFirmHalted());
  }

  /** Nothing can be shown then by halting something. */
  async function isFirmHalted(): Promise<boolean> {
    return (await riskStore.halts()).active.some(({ severity }) => severity === "FIRM_HALT");
  }

  const loop = startLoop({
    ports,
    what: "the halt drills",
    firstAfterMs: 0,
    async run() {
      await sweep();
      // The first one waits for the platform to be there.
      if (hasLooked && (await isDue())) await run(machine, "");
      hasLooked = true;
      return lookEveryMs;
    },
  });

  return {
    handlers: {
      async RunDrill(request: RunDrillRequest, { identity }: RpcCall): Promise<Drill | DeniedAnswer> {
        const reason = givenReason(request.reason);
        const attempt = { identity, verb: "RunDrill", target: "", reason };
        if (running === undefined && (await isFirmHalted())) return attempts.refused(attempt, firmHalted);
        await store.transact("halts.attempt", (unit) => attempts.allowed(unit, attempt));
        return run(identity.actor, reason);
      },
      async ListDrills({ count_max: asked, after_drill_id: after }: ListDrillsRequest): Promise<Drills> {
        const countMax = Math.min(asked === 0 ? countDefault : asked, countMaxMax);
        return { drills: [...(await store.transact("drill.look", (unit) => unit.drills.newest(countMax, after)))] };
      },
    },
    async stop() {
      ending.abort();
      await loop.stop();
      await running?.catch((thrown: unknown) => log.warn("a drill was cut short", { error: messageOf(thrown) }));
    },
  };
}

async function lift(
  unit: UnitOfWork,
  halts: readonly ActiveHalt[],
  { drill_id: drillId, requested_by: by }: DrillMeasured,
  clock: ServicePorts["clock"],
): Promise<void> {
  if (halts.length === 0) return;
  const at = clock.now();
  const ids = halts.map(({ halt_id: id }) => id);
  const epoch = await unit.risk.liftHalts(ids, at, { kind: "drill" });
  for (const { halt_id, severity, fund_id, strategy_id } of halts) {
    await unit.events.publish(subjects.haltLifted, {
      halt_id,
      severity,
      fund_id,
      epoch,
      reason: `The drill ${drillId} is over.`,
      ...(strategy_id !== undefined && { strategy_id }),
      requested_by: by,
      cosigned_by: machine,
      baseline: "kept" as const,
      lifted_at: format(at),
    });
  }
}

function abandoned({ halt_id: id, requested_by: by, reason, since }: ActiveHalt): DrillMeasured {
  const complaint = "It did not end by itself: its process ended before it, or its record could not be written.";
  return {
    drill_id: id,
    halt_id: id,
    requested_by: by,
    reason,
    passed: false,
    complaint,
    at: since,
  };
}
