// One drill: a halt of the drill's own fund, and how long each step after it took. It is bounded, and whatever did not happen in time makes it fail.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { format, type Instant, millisecondsBetween, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { DrillMeasured, HaltStepName } from "../../../contracts/src/records/halt.ts";
import { drillFundId } from "../../../core/halts/halts.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { pollUntil, within } from "../../shared/waiting.ts";
import type { RunningHalts } from "../halts/halts.ts";
import { openProbe, type Probe, type ProbeOptions } from "./probe-orders.ts";

/** With what comes before and after it, a drill stays within 25 s. */
const stepsMsMax = 15_000;
const restMsMax = 4_000;
const lookEveryMs = 20;

export interface DrillOptions extends Omit<ProbeOptions, "ports"> {
  readonly ports: ProbeOptions["ports"] & Pick<ServicePorts, "clock" | "timers" | "log">;
  readonly halts: Pick<RunningHalts, "trip">;
}

/** Cuts a drill short when its process is to end. */
type Ending = AbortSignal;

interface DrillAsked {
  readonly drillId: string;
  readonly requestedBy: string;
  readonly reason: string;
}

type Figure = "latched_ms" | "blocked_ms" | "cancelled_ms" | "notified_ms";

/** Who sets reference data of their own says themselves what funds there are. */
const noFund =
  `There is no paper fund ${drillFundId} with a strategy, so no order of its own was cancelled: ` +
  "put one in with `ctl treasury reference set funds`, and its limits with `ctl riskengine envelope set`.";

const figures: readonly Figure[] = ["latched_ms", "blocked_ms", "cancelled_ms", "notified_ms"];
const words: Readonly<Record<Figure, string>> = {
  latched_ms: "latched",
  blocked_ms: "blocked",
  cancelled_ms: "cancelled",
  notified_ms: "notified",
};

/** Leaves the halt in force: whoever records what was measured lifts it. */
export async function measureDrill(options: DrillOptions, asked: DrillAsked, ending: Ending): Promise<DrillMeasured> {
  const { ports } = options;
  const { clock, timers } = ports;
  const { drillId } = asked;
  const took = new Map<Figure, number>();
  const failures: string[] = [];
  const notes: string[] = [];
  const probe = await openProbe(options, drillId);
  if (probe === undefined) notes.push(noFund);
  const unrested = probe && (await within(timers, restMsMax, probe.rest(), "no order rested in time", ending));
  if (unrested !== undefined) failures.push(unrested);
  const from = clock.now();
  const until = plusMilliseconds(from, stepsMsMax);
  const note = (figure: Figure, at: Instant = clock.now()): void => {
    if (at <= until && !took.has(figure)) took.set(figure, Math.max(0, millisecondsBetween(from, at)));
  };

  async function blocked(): Promise<void> {
    try {
      const answer = await options.halts.trip(haltOf(asked, from), () => note("latched_ms"));
      if ("denial" in answer) failures.push(`the halt was refused (${answer.denial.code}: ${answer.denial.reason})`);
      else if (!answer.acknowledged) failures.push("no engine confirmed the halt");
      else {
        const unrefused = await probe?.isRefused();
        if (unrefused === undefined) note("blocked_ms");
        else failures.push(unrefused);
      }
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      failures.push(`the halt could not be latched (${messageOf(thrown)})`);
    }
  }

  /** Looks until it is seen; trouble with the store is one more look. */
  async function watch(figure: Figure, look: () => Promise<Instant | undefined>): Promise<void> {
    const isOver = (): boolean => clock.now() >= until || failures.some((failure) => failure.startsWith("the halt"));
    const at = await pollUntil({ timers, everyMs: lookEveryMs, signal: ending, isOver }, async () => {
      try {
        return await look();
      } catch (thrown) {
        if (thrown instanceof Defect) throw thrown;
        ports.log.debug("a drill cannot look", { drill: drillId, reason: messageOf(thrown) });
        return undefined;
      }
    });
    if (at !== undefined) note(figure, at);
  }

  const isWatched = probe !== undefined && unrested === undefined;
  const cancelled = async (): Promise<Instant | undefined> =>
    isWatched ? seen(clock, await probe.isCancelled()) : provenAt(ports, drillId, "CANCELLED");
  const steps = [
    blocked(),
    watch("cancelled_ms", cancelled),
    watch("notified_ms", () => provenAt(ports, drillId, "NOTIFIED")),
  ];
  await within(timers, stepsMsMax, Promise.all(steps), [], ending);
  if (ending.aborted) failures.push("operations was stopped before it was over");
  return measured(asked, from, { took, failures, notes });
}

function haltOf({ drillId, requestedBy, reason }: DrillAsked, from: Instant) {
  const scope = { severity: "FUND_HALT", fund_id: drillFundId } as const;
  const why = reason === "" ? "scheduled drill" : reason;
  return { ...scope, reason: why, requested_by: requestedBy, halt_id: drillId, since: format(from) };
}

function seen(clock: ServicePorts["clock"], is: boolean): Instant | undefined {
  return is ? clock.now() : undefined;
}

async function provenAt(
  { store }: Pick<ServicePorts, "store">,
  haltId: string,
  step: HaltStepName,
): Promise<Instant | undefined> {
  const proven = await store.transact("drill.look", (unit) => unit.halts.proven([haltId]));
  return proven.find((one) => one.step === step)?.at;
}

interface Found {
  readonly took: ReadonlyMap<Figure, number>;
  readonly failures: readonly string[];
  readonly notes: readonly string[];
}

function measured({ drillId, requestedBy, reason }: DrillAsked, from: Instant, found: Found): DrillMeasured {
  const missing = figures.filter((figure) => !found.took.has(figure)).map((figure) => words[figure]);
  const late = missing.length === 0 ? [] : [`not in time: ${missing.join(", ")}`];
  const failures = [...found.failures, ...late];
  const failed = failures.length === 0 ? [] : [`${failures.join("; ")}.`];
  return {
    drill_id: drillId,
    halt_id: drillId,
    requested_by: requestedBy,
    reason,
    ...Object.fromEntries(found.took),
    passed: failures.length === 0,
    complaint: [...failed, ...found.notes].join(" ").slice(0, 2_000),
    at: format(from),
  };
}

/** What is left of a drill's orders is wanted gone; the halt that covers them wants the same until it is lifted. */
export async function clearProbe(options: ProbeOptions, drillId: string): Promise<void> {
  const probe: Probe | undefined = await openProbe(options, drillId);
  await probe?.clear();
}
