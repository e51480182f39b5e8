// The latch: RequestHalt blocks here first, then latches in the store, then waits until every decision that was made before has been
// answered, and only then says that it is done. AnnounceHalt and ConfirmHalts are the same for halts that the halt manager latches. ResumeHalt is the workflow that the halt
// manager has as well.
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import type {
  ConfirmHaltsRequest,
  HaltAnnounced,
  HaltRequest,
  HaltResponse,
  HaltStatus,
  HaltsConfirmed,
  ResumeRequest,
} from "../../contracts/src/generated/svc/v1/halt.ts";
import { activeHalt } from "../../contracts/src/records/halt.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import { haltReason, whyNotConfirmed } from "../halts/confirmation-word.ts";
import { type AskedHalt, readHalt } from "../halts/halt-request.ts";
import { createLatch, type Latched } from "../halts/latch-halt.ts";
import { createResumeWorkflow, type ResumeWorkflowPorts } from "../halts/resume-workflow.ts";
import type { Attempt, Attempts } from "../shared/attempts.ts";
import type { ServicePorts } from "../shared/service.ts";
import { transactToKnownEnd } from "../shared/unknown-outcome.ts";
import { breathe, pollUntil, within } from "../shared/waiting.ts";
import type { HaltWatch } from "./halt-watch.ts";
import type { InFlightCalls } from "./in-flight-calls.ts";
import type { ReferenceWatch } from "./reference-watch.ts";

/** How long an answer waits for the decisions before it; after that it says that they are not all acknowledged. */
const acknowledgeMsMax = 5_000;
const latchAgainMs = { first: 100, max: 2_000 };
const unlatchedMax = 1_000;
/** What was announced blocks for so long unless the store has it by then. */
const announcedMsMax = 5_000;

interface HaltsOptions {
  readonly ports: ResumeWorkflowPorts & Pick<ServicePorts, "crash">;
  /** Names this life of the engine. */
  readonly incarnation: string;
  readonly watch: HaltWatch;
  readonly inFlight: InFlightCalls;
  readonly attempts: Attempts;
  readonly reference: Pick<ReferenceWatch, "fund" | "fundOfStrategy">;
}

export interface Halts {
  requestHalt(request: HaltRequest, call: RpcCall): Promise<HaltResponse | DeniedAnswer>;
  resumeHalt(request: ResumeRequest, call: RpcCall): Promise<HaltStatus | DeniedAnswer>;
  announceHalt(request: HaltRequest): Promise<HaltAnnounced>;
  confirmHalts(request: ConfirmHaltsRequest): Promise<HaltsConfirmed>;
  stop(): Promise<void>;
}

export function createHalts({ ports, watch, inFlight, attempts, reference, incarnation }: HaltsOptions): Halts {
  const ending = new AbortController();
  /** By halt, so that one that is asked for again and again is tried by one alone. */
  const latching = new Map<string, Promise<void>>();
  const latch = createLatch({
    transact: (work) => transactToKnownEnd(ports, "risk.halt", work),
    publisher: "riskengine",
    subject: subjects.riskHaltRequested,
    attempts,
  });
  const resumeWorkflow = createResumeWorkflow({
    ports,
    attempts,
    lifted: async () => void (await watch.readNow()),
  });

  async function requestHalt(request: HaltRequest, { identity }: RpcCall): Promise<HaltResponse | DeniedAnswer> {
    const target = request.strategy_id || request.fund_id;
    const reason = haltReason(request.reason);
    const attempt: Attempt = { identity, verb: "RequestHalt", target, reason };
    const unconfirmed = whyNotConfirmed(request, identity);
    if (unconfirmed !== undefined) return attempts.refused(attempt, unconfirmed);
    const at = ports.clock.now();
    const asked = { request: { ...request, reason }, identity, at, newId: () => ports.random.uuid() };
    const halt = readHalt(asked, reference);
    if ("code" in halt) return attempts.refused(attempt, halt);
    if (watch.unlatchedCounts().blocked >= unlatchedMax) throw tooMany();
    watch.block(halt);
    const latched = await latchOrKeepBlocking(halt, attempt);
    if ("denial" in latched) {
      watch.unblock(halt);
      return attempts.refused(attempt, latched.denial);
    }
    watch.latched(latched.halt);
    const acknowledged = await everybodyAnswered();
    const { halt_id, epoch, since } = latched.halt;
    return { halt_id, epoch, since, acknowledged, audit_id: latched.auditId };
  }

  async function announceHalt(request: HaltRequest): Promise<HaltAnnounced> {
    // The latch gives it its epoch.
    const halt = activeHalt.safeParse({ ...request, epoch: 0 });
    if (!halt.success)
      throw new Fault("INVALID_ARGUMENT", "This is no halt that could be latched.", { retry: "never" });
    if (watch.unlatchedCounts().announced >= unlatchedMax) throw tooMany();
    watch.announce(halt.data, announcedMsMax);
    // Who was decided before it is answered, and then who was meanwhile, the first that are denied: from here on there is time for the latch.
    await everybodyAnswered();
    await everybodyAnswered();
    return { incarnation };
  }

  async function confirmHalts({ epoch, settled_halt_ids: settled }: ConfirmHaltsRequest): Promise<HaltsConfirmed> {
    const known = await watch.readNow();
    if (known < epoch) throw behind(known, epoch);
    watch.settle(settled);
    if (!(await everybodyAnswered())) throw unanswered();
    return { incarnation, epoch: known };
  }

  async function latchOrKeepBlocking(halt: AskedHalt, attempt: Attempt): Promise<Latched> {
    try {
      return await latch(halt, attempt);
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      if (thrown instanceof Fault && thrown.code === "RESOURCE_EXHAUSTED") {
        watch.unblock(halt);
        throw thrown;
      }
      const name = JSON.stringify([halt.halt_id, halt.severity, halt.fund_id, halt.strategy_id]);
      if (!latching.has(name)) {
        latching.set(
          name,
          latchLater(halt, attempt).finally(() => latching.delete(name)),
        );
      }
      throw new Fault(
        "STORE_UNAVAILABLE",
        `The halt ${halt.halt_id} blocks here, but it is not latched yet; that is tried until it is.`,
        { retry: "later", facts: { halt_id: halt.halt_id }, cause: thrown },
      );
    }
  }

  async function latchLater(halt: AskedHalt, attempt: Attempt): Promise<void> {
    const { first, max } = latchAgainMs;
    const { signal } = ending;
    const polling = { timers: ports.timers, firstAfterMs: first, everyMs: first, everyMsMax: max, signal };
    await pollUntil(polling, async () => {
      try {
        const latched = await latch(halt, attempt);
        if ("denial" in latched) {
          watch.unblock(halt);
          ports.log.warn("a halt that blocked is not latched", {
            halt_id: halt.halt_id,
            reason: latched.denial.reason,
          });
          return "denied";
        }
        watch.latched(latched.halt);
        ports.log.info("a halt that blocked already is latched", { halt_id: halt.halt_id });
        return "latched";
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        ports.log.warn("a halt blocks and is not latched yet", { halt_id: halt.halt_id, error: messageOf(thrown) });
        return undefined;
      }
    });
  }

  async function everybodyAnswered(): Promise<boolean> {
    const cleared = inFlight.cleared().then(() => true);
    const acknowledged = await within(ports.timers, acknowledgeMsMax, cleared, false);
    // One turn more: answers are handed over in the steps that follow their commit.
    await breathe(ports.timers);
    return acknowledged;
  }

  return {
    requestHalt,
    resumeHalt: resumeWorkflow.resume,
    announceHalt,
    confirmHalts,
    stop: async () => {
      ending.abort();
      await Promise.all(latching.values());
    },
  };
}

function behind(known: number, wanted: number): Fault {
  return new Fault("SERVICE_UNAVAILABLE", `The store has epoch ${known}, not ${wanted}.`, { retry: "now" });
}

function unanswered(): Fault {
  return new Fault("DEADLINE_EXCEEDED", "Decisions that were made before the halt are not all answered yet.", {
    retry: "now",
  });
}

function tooMany(): Fault {
  return new Fault("RESOURCE_EXHAUSTED", "As many halts as may wait for the store do.", { retry: "later" });
}
