// Latching a halt, whoever was asked: the row, the event that tells of it and the operator's attempt are one transaction.
//
//  1. The same halt_id twice is one halt, reported once; for another scope, or when it was lifted meanwhile, it is refused by name: a caller
//     must not believe that something is halted which is not.
//  2. Several halts on one scope are all kept, up to a bound at which one more would change nothing.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { ActiveHalt, HaltRequest } from "../../contracts/src/records/halt.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { haltsPerScopeMax, isSameScope } from "../../core/halts/halts.ts";
import type { HaltPublisher } from "../../ports/halt-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { Attempt, Attempts } from "../shared/attempts.ts";
import type { AskedHalt } from "./halt-request.ts";

export type Latched = { readonly halt: ActiveHalt; readonly auditId: string } | { readonly denial: Denial };

interface LatchOptions {
  /** Runs a unit of work to its known end. */
  readonly transact: <Value>(work: (unit: UnitOfWork) => Promise<Value>) => Promise<Value>;
  readonly publisher: HaltPublisher;
  /** By which it is reported. */
  readonly subject: Subject<ActiveHalt> | Subject<HaltRequest>;
  readonly attempts: Attempts;
}

type Latch = (halt: AskedHalt, attempt: Attempt | undefined) => Promise<Latched>;

export function createLatch({ transact, publisher, subject, attempts }: LatchOptions): Latch {
  async function latchIn(unit: UnitOfWork, halt: AskedHalt, attempt: Attempt | undefined): Promise<Latched> {
    const { epoch, active } = await unit.risk.lockHalts();
    const before = active.find(({ halt_id: id }) => id === halt.halt_id);
    if (before !== undefined && !isSameScope(before, halt)) return belongsElsewhere(halt);
    if (before === undefined) {
      const beside = active.filter((one) => isSameScope(one, halt)).length;
      if (beside >= haltsPerScopeMax) throw halted(beside);
    }
    const latched = before ?? (await unit.risk.latchHalt(halt));
    // It was known and is not in force: taking it for a new halt would leave the scope free.
    if (before === undefined && latched.epoch <= epoch) throw wasLifted(halt);
    const auditId = before === undefined ? await tellIn(unit, latched) : await reportedBefore(unit, latched);
    if (attempt !== undefined) await attempts.allowed(unit, attempt);
    return { halt: latched, auditId };
  }

  async function tellIn(unit: UnitOfWork, halt: ActiveHalt): Promise<string> {
    const eventId = await unit.events.publish(subject as Subject<ActiveHalt>, halt);
    await unit.halts.tell({ haltId: halt.halt_id, publisher, eventId });
    return eventId;
  }

  async function reportedBefore(unit: UnitOfWork, halt: ActiveHalt): Promise<string> {
    const reported = await unit.halts.reported([halt.halt_id]);
    return (reported.find((one) => one.publisher === publisher) ?? reported[0])?.eventId ?? "";
  }

  return async (halt, attempt) => {
    try {
      return await transact((unit) => latchIn(unit, halt, attempt));
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.facts["lifted"] === halt.halt_id) {
        return { denial: { code: "HALT_SCOPE_INVALID", reason: thrown.message } };
      }
      throw thrown;
    }
  };
}

function belongsElsewhere(halt: AskedHalt): Latched {
  const reason = `The halt_id ${halt.halt_id} belongs to another halt.`;
  return { denial: { code: "HALT_SCOPE_INVALID", reason } };
}

function wasLifted({ halt_id: id }: AskedHalt): Fault {
  const sentence = `The halt ${id} was lifted. Nothing is halted by this request: ask with another halt_id.`;
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never", facts: { lifted: id } });
}

function halted(count: number): Fault {
  const sentence = `This scope is halted by ${count} halts already, and stays so until all of them are lifted.`;
  return new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "never" });
}
