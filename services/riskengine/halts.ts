// The latch: RequestHalt blocks here first, then latches in the store, then waits until every decision that was made before has been
// answered, and only then says that it is done. Lifting is refused by name until there are people who may.
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import type { HaltRequest, HaltResponse, ResumeRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { ServicePorts } from "../service.ts";
import type { Attempt, Attempts } from "./attempts.ts";
import { type AskedHalt, readHalt } from "./halt-request.ts";
import type { HaltWatch } from "./halt-watch.ts";
import { transactToKnownEnd } from "./known-end.ts";
import type { Lanes } from "./lanes.ts";
import type { ReferenceWatch } from "./reference-watch.ts";

/** How long an answer waits for the decisions before it; after that it says that they are not all acknowledged. */
const acknowledgeMsMax = 5_000;
const latchAgainMs = { first: 100, max: 2_000 };
const unlatchedMax = 1_000;

export interface HaltsOptions {
  readonly ports: Pick<ServicePorts, "store" | "timers" | "clock" | "random" | "log" | "crash">;
  readonly watch: HaltWatch;
  readonly lanes: Lanes;
  readonly attempts: Attempts;
  readonly reference: Pick<ReferenceWatch, "fund" | "fundOfStrategy">;
}

export interface Halts {
  requestHalt(request: HaltRequest, call: RpcCall): Promise<HaltResponse | DeniedAnswer>;
  resumeHalt(request: ResumeRequest, call: RpcCall): Promise<DeniedAnswer>;
  stop(): Promise<void>;
}

export function createHalts({ ports, watch, lanes, attempts, reference }: HaltsOptions): Halts {
  const ending = new AbortController();
  /** By halt, so that one that is asked for again and again is tried by one alone. */
  const latching = new Map<string, Promise<void>>();

  async function requestHalt(request: HaltRequest, { identity }: RpcCall): Promise<HaltResponse | DeniedAnswer> {
    const target = request.strategy_id ?? request.fund_id;
    const attempt: Attempt = { identity, verb: "RequestHalt", target, reason: request.reason };
    const asked = { request, identity, at: ports.clock.now(), newId: () => ports.random.uuid() };
    const halt = readHalt(asked, reference);
    if ("code" in halt) return attempts.refused(attempt, halt);
    if (watch.unlatchedCount() >= unlatchedMax) throw tooMany();
    watch.block(halt);
    const latched = await latchOrKeepBlocking(halt, attempt);
    if (!covers(latched, halt)) {
      watch.latched(latched);
      const reason = `The halt_id ${halt.halt_id} belongs to another halt.`;
      return attempts.refused(attempt, { code: "HALT_SCOPE_INVALID", reason });
    }
    watch.latched(latched);
    const acknowledged = await everybodyAnswered();
    const { halt_id, epoch, since } = latched;
    return { halt_id, epoch, since, acknowledged };
  }

  async function latchOrKeepBlocking(halt: AskedHalt, attempt: Attempt): Promise<ActiveHalt> {
    try {
      return await latch(halt, attempt);
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
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

  /** The same halt_id twice is one halt: its event is published by whoever latched it, once. */
  function latch(halt: AskedHalt, attempt: Attempt): Promise<ActiveHalt> {
    return transactToKnownEnd(ports, "risk.halt", async (unit) => {
      const { active } = await unit.risk.lockHalts();
      const before = active.find(({ halt_id: id }) => id === halt.halt_id);
      if (before !== undefined) return before;
      const latched = await unit.risk.latchHalt(halt);
      await unit.events.publish(subjects.riskHaltRequested, latched);
      await attempts.allowed(unit, attempt);
      return latched;
    });
  }

  async function latchLater(halt: AskedHalt, attempt: Attempt): Promise<void> {
    for (let waitMs = latchAgainMs.first; ; waitMs = Math.min(waitMs * 2, latchAgainMs.max)) {
      await ports.timers.sleep(waitMs, ending.signal);
      if (ending.signal.aborted) return;
      try {
        watch.latched(await latch(halt, attempt));
        ports.log.info("a halt that blocked already is latched", { halt_id: halt.halt_id });
        return;
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        ports.log.warn("a halt blocks and is not latched yet", { halt_id: halt.halt_id, error: messageOf(thrown) });
      }
    }
  }

  async function everybodyAnswered(): Promise<boolean> {
    const patience = new AbortController();
    const cleared = lanes.cleared().then(() => true);
    const outOfPatience = ports.timers.sleep(acknowledgeMsMax, patience.signal).then(() => false);
    const acknowledged = await Promise.race([cleared, outOfPatience]);
    patience.abort();
    // One turn more: answers are handed over in the steps that follow their commit.
    await ports.timers.sleep(0);
    return acknowledged;
  }

  return {
    requestHalt,
    resumeHalt: (request, { identity }) =>
      attempts.refused(
        {
          identity,
          verb: "ResumeHalt",
          target: request.strategy_id ?? request.fund_id ?? "",
          reason: request.reason ?? "",
        },
        { code: "RESUME_UNAVAILABLE", reason: "Nobody may lift halts here yet; a halt stays in force." },
      ),
    stop: async () => {
      ending.abort();
      await Promise.all(latching.values());
    },
  };
}

function covers(latched: ActiveHalt, asked: AskedHalt): boolean {
  return (
    latched.severity === asked.severity &&
    latched.fund_id === asked.fund_id &&
    latched.strategy_id === asked.strategy_id
  );
}

function tooMany(): Fault {
  return new Fault("RESOURCE_EXHAUSTED", "As many halts as may wait for the store do.", { retry: "later" });
}
