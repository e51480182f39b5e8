// What was tried, allowed or not: every state-changing verb leaves an event under the name that was proved, a refused one too.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import type { OperatorAttempted } from "../../contracts/src/records/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Identity } from "../../ports/identity.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { line } from "./one-line.ts";
import type { ServicePorts } from "./service.ts";

export interface Attempt {
  readonly identity: Identity;
  /** The procedure's name. */
  readonly verb: string;
  /** The fund or strategy; empty for the whole firm. */
  readonly target: string;
  readonly reason: string;
}

/** What a record says of a refusal. */
interface Refusal {
  readonly code: Denial["code"] | "NOT_FOUND";
  readonly reason: string;
}

export interface Attempts {
  /** In the unit of work that does what was asked. */
  allowed(unit: UnitOfWork, attempt: Attempt): Promise<void>;
  /** Records the refusal and gives it as the answer. */
  refused(attempt: Attempt, denial: Denial): Promise<DeniedAnswer>;
  /** Records that there is nothing of that name, and gives the fault to throw. */
  notFound(attempt: Attempt, sentence: string): Promise<Fault>;
  /** The same in a unit of work that also does what the refusal entails. */
  refusedIn(unit: UnitOfWork, attempt: Attempt, denial: Denial): Promise<DeniedAnswer>;
}

/** `room` is whose unit of work a refusal is reported in. */
export function createAttempts(
  { store, clock }: Pick<ServicePorts, "store" | "clock">,
  room: "risk" | "halts" | "oms",
): Attempts {
  // A machine's are as much worth a record as a person's: what it halts may tell which of its parts asked, and not whose token that was.
  const record = ({ identity, verb, target, reason }: Attempt, denial?: Refusal): OperatorAttempted => ({
    operator: identity.actor,
    verb,
    target: line(target, 200),
    allowed: denial === undefined,
    ...(denial === undefined ? {} : { code: denial.code }),
    reason: line(denial === undefined ? reason : denial.reason, 2_000),
    at: format(clock.now()),
  });
  return {
    async allowed(unit, attempt) {
      await unit.events.publish(subjects.operatorAttempted, record(attempt));
    },
    async refused(attempt, denial) {
      await store.transact(`${room}.attempt`, (unit) =>
        unit.events.publish(subjects.operatorAttempted, record(attempt, denial)),
      );
      return { denial, isReported: true };
    },
    async notFound(attempt, sentence) {
      const missing = { code: "NOT_FOUND", reason: sentence } as const;
      await store.transact(`${room}.attempt`, (unit) =>
        unit.events.publish(subjects.operatorAttempted, record(attempt, missing)),
      );
      return new Fault("NOT_FOUND", sentence, { retry: "never", isReported: true });
    },
    async refusedIn(unit, attempt, denial) {
      await unit.events.publish(subjects.operatorAttempted, record(attempt, denial));
      return { denial, isReported: true };
    },
  };
}
