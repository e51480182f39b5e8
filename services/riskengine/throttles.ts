// Letting a strategy trade again after its repeated-execution throttle tripped: a person's decision with a reason, in the journal first,
// because the books follow the journal, then reported.
import { Fault } from "../../contracts/src/fault.ts";
import type { ReleaseThrottleRequest, ThrottleStatus } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../contracts/src/instant.ts";
import type { ThrottleReleased } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { Attempt, Attempts } from "../shared/attempts.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import { transactToKnownEnd } from "../shared/unknown-outcome.ts";
import type { Alarms } from "./alarms.ts";
import type { GroupCommit } from "./journal/group-commit.ts";
import type { ReferenceWatch } from "./reference-watch.ts";

interface ThrottlesOptions {
  readonly ports: Pick<ServicePorts, "store" | "timers" | "clock" | "log">;
  readonly engine: Engine;
  readonly commit: GroupCommit;
  readonly attempts: Attempts;
  readonly alarms: Pick<Alarms, "clear">;
  readonly reference: Pick<ReferenceWatch, "fundOfStrategy">;
}

type ReleaseThrottle = (request: ReleaseThrottleRequest, call: RpcCall) => Promise<ThrottleStatus | DeniedAnswer>;

const encoder = new TextEncoder();

export function createReleaseThrottle({
  ports,
  engine,
  commit,
  attempts,
  alarms,
  reference,
}: ThrottlesOptions): ReleaseThrottle {
  return async ({ strategy_id: strategyId, reason }, { identity }) => {
    const attempt: Attempt = { identity, verb: "ReleaseThrottle", target: strategyId, reason };
    const fund = reference.fundOfStrategy(strategyId);
    if (fund === undefined) {
      const shown = JSON.stringify(line(strategyId, 128));
      throw new Fault("NOT_FOUND", `There is no strategy ${shown}.`, { retry: "never" });
    }
    if (line(reason, 2_000).trim() === "") {
      return attempts.refused(attempt, {
        code: "REASON_MISSING",
        reason: "A throttle is not released without a reason.",
      });
    }
    if (engine.throttle(strategyId)?.tripped !== true) {
      const untripped = `The throttle of ${strategyId} has not tripped.`;
      return attempts.refused(attempt, { code: "THROTTLE_NOT_TRIPPED", reason: untripped });
    }
    const at = ports.clock.now();
    const released: ThrottleReleased = {
      strategy_id: strategyId,
      fund_id: fund.fund_id,
      released_by: identity.actor,
      reason: line(reason, 2_000),
      at: format(at),
    };
    const payload = encoder.encode(JSON.stringify(released));
    await commit.addAlone({ kind: "release", at, fundId: fund.fund_id, orderId: "", payload }, () => {
      engine.releaseThrottle(strategyId);
      alarms.clear("STRATEGY_THROTTLED", strategyId);
    });
    await transactToKnownEnd(ports, "risk.release", async (unit) => {
      await unit.events.publish(subjects.throttleReleased, released);
      await attempts.allowed(unit, attempt);
    });
    return { strategy_id: strategyId, fund_id: fund.fund_id, tripped: false };
  };
}
