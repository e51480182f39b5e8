// The halt manager: latches what it is asked to, adopts what the risk engine latched, sees what follows through, and is where people lift. A latch
// is durable before anybody is answered, and answered when every live engine has confirmed it, never behind the bus.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import type { HaltRequest, HaltResponse } from "../../../contracts/src/generated/svc/v1/halt.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { HaltRequest as HaltRecord } from "../../../contracts/src/records/halt.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { Health } from "../../../ports/health.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../../ports/rpc.ts";
import { haltReason, whyNotConfirmed } from "../../halts/confirmation-word.ts";
import { type AskedHalt, readHalt } from "../../halts/halt-request.ts";
import { createLatch } from "../../halts/latch-halt.ts";
import { createResumeWorkflow, type ResumeWorkflowPorts } from "../../halts/resume-workflow.ts";
import { type Attempt, createAttempts } from "../../shared/attempts.ts";
import { openFundDirectory } from "../../shared/fund-directory.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";
import { within } from "../../shared/waiting.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { acknowledge } from "./acknowledge.ts";
import type { Reservations } from "./foreign-left.ts";
import { createHaltStatuses } from "./status.ts";
import { startHaltSteps } from "./steps.ts";

/**
 * How long an answer waits for the engines; after that it says that they have not all confirmed, and the steps go on asking. A little longer
 * than a lease, so that an engine that was killed has lost its own by then.
 */
const acknowledgeMsMax = 6_000;
const liftedMsMax = 2_000;
/** So long a latch lets its announcement pass; an engine that answers takes about five. */
const announceMsMax = 20;
const stepsWaitMs = 50;
/** A manager that has not come round for so long cannot work. */
const silentMsMax = 30_000;

export type HaltPorts = ResumeWorkflowPorts &
  Pick<ServicePorts, "riskStore" | "bus" | "crash" | "chat" | "haltsConfirmer"> &
  Reservations;

export interface RunningHalts {
  readonly handlers: RpcService["handlers"];
  /** Latches what no caller asked for, as a drill does, says when that is durable, and waits as long for the engines as for anybody's. */
  trip(halt: AskedHalt, latched?: () => void): Promise<HaltResponse | DeniedAnswer>;
  health(): Health;
  stop(): Promise<void>;
}

export async function startHalts(ports: HaltPorts, alarms: WorkerAlarms): Promise<RunningHalts> {
  const attempts = createAttempts(ports, "halts");
  const funds = await openFundDirectory(ports);
  const steps = startHaltSteps({ ports, alarms });
  const latch = createLatch({
    transact: (work) => transactToKnownEnd(ports, "halts.latch", work),
    publisher: "operations",
    subject: subjects.haltRequested,
    attempts,
  });
  const resumeWorkflow = createResumeWorkflow({
    ports,
    attempts,
    lifted: async (epoch) => {
      steps.wake();
      await acknowledge(ports, { epoch }, liftedMsMax);
    },
  });
  const statuses = createHaltStatuses({ ports, funds, steps });

  async function requestHalt(request: HaltRequest, { identity }: RpcCall): Promise<HaltResponse | DeniedAnswer> {
    const reason = haltReason(request.reason);
    const target = request.strategy_id || request.fund_id;
    const attempt: Attempt = { identity, verb: "RequestHalt", target, reason };
    const unconfirmed = whyNotConfirmed(request, identity);
    if (unconfirmed !== undefined) return attempts.refused(attempt, unconfirmed);
    if (request.severity !== "FIRM_HALT") await funds.find(target);
    const asked = {
      request: { ...request, reason },
      identity,
      at: ports.clock.now(),
      newId: () => ports.random.uuid(),
    };
    const halt = readHalt(asked, funds);
    return "code" in halt ? attempts.refused(attempt, halt) : latchAndAnswer(halt, attempt);
  }

  async function latchAndAnswer(
    halt: AskedHalt,
    attempt?: Attempt,
    onLatched?: () => void,
  ): Promise<HaltResponse | DeniedAnswer> {
    await announce(halt);
    const latched = await latch(halt, attempt);
    if ("denial" in latched) {
      withdraw(halt);
      return attempt === undefined ? { denial: latched.denial } : attempts.refused(attempt, latched.denial);
    }
    onLatched?.();
    const { halt_id, epoch, since } = latched.halt;
    const acknowledging = acknowledge(ports, { epoch, settledHaltIds: [halt_id] }, acknowledgeMsMax);
    wakeAfter(acknowledging);
    return { halt_id, epoch, since, acknowledged: await acknowledging, audit_id: latched.auditId };
  }

  /** What follows a latch has questions of its own; they let the first one pass, for a moment. */
  function wakeAfter(acknowledging: Promise<boolean>): void {
    const wake = (): void => steps.wake();
    Promise.race([acknowledging, ports.timers.sleep(stepsWaitMs)]).then(wake, wake);
  }

  /**
   * The engine blocks before the latch is on its way to the disk; nobody is promised anything by that. The latch begins when the engine has answered the
   * first orders that it denies, because its statements would take processor and disk from them.
   */
  async function announce(halt: AskedHalt): Promise<void> {
    const telling = ports.haltsConfirmer.announce(halt).catch((thrown: unknown) => unheard(halt, thrown));
    await within(ports.timers, announceMsMax, telling, undefined);
  }

  /** Nothing was latched, so nothing may block. */
  function withdraw(halt: AskedHalt): void {
    ports.haltsConfirmer.confirm(0, [halt.halt_id]).catch((thrown: unknown) => unheard(halt, thrown));
  }

  function unheard({ halt_id }: AskedHalt, thrown: unknown): void {
    if (thrown instanceof Defect) ports.crash.die(thrown);
    ports.log.warn("the risk engine did not hear of a halt before its latch", { halt_id, error: messageOf(thrown) });
  }

  const subscription = await ports.bus.subscribe(
    { name: "operations.halts", subjects: [subjects.riskHaltRequested.name], queueMax: 100 },
    async ({ payload }) => {
      const { halt_id: id } = payload as HaltRecord;
      if (id !== undefined) await steps.adopt(id);
      steps.wake();
    },
  );

  return {
    handlers: {
      RequestHalt: requestHalt,
      ResumeHalt: resumeWorkflow.resume,
      ListActiveHalts: statuses.listActiveHalts,
      GetHaltStatus: statuses.getHaltStatus,
    },
    trip: (halt, onLatched) => latchAndAnswer(halt, undefined, onLatched),
    health() {
      const silentMs = millisecondsBetween(steps.workedAt(), ports.clock.now());
      if (silentMs <= silentMsMax) return { status: "ok" };
      return { status: "failing", complaint: `The halt manager has done nothing for ${Math.round(silentMs)} ms.` };
    },
    stop: async () => {
      await subscription.close();
      await steps.stop();
    },
  };
}
