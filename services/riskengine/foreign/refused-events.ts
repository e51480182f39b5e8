// What was refused before it was published for its program (services/operations/foreign): counted, alarmed once, and put aside where people see it. A fill's
// fund waits behind it until somebody has dealt with it, as behind one that came over NATS and cannot be read.
import type { RefusedForeignEvent } from "../../../contracts/src/records/foreign.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { hearNumber, noteRefused, nothingHeard } from "../../../core/foreign/numbering.ts";
import type { Handler } from "../../../ports/bus.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { heldFill, isForeign, raiseRefused, refusedEvent } from "../../shared/foreign-intake.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { transactToKnownEnd } from "../../shared/unknown-outcome.ts";

interface RefusedEventsOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "random" | "timers" | "log">;
  /** An event was counted that was not simply the next. */
  readonly counted: () => void;
}

/** Which of them were counted: what is held is tried again and again. */
const inbox = "riskengine.foreign-refused";

export function hearRefused({ ports, counted }: RefusedEventsOptions): Handler {
  const { clock, random } = ports;

  async function count({ foreign }: UnitOfWork, refused: RefusedForeignEvent): Promise<void> {
    const { source, fund_id: fundId, kind, sequence, number_used: isUsed, code } = refused;
    if (sequence === undefined) return;
    const stream = { source, fundId, kind };
    const before = await foreign.lock(stream);
    const position = before ?? nothingHeard;
    const at = clock.now();
    if (isUsed) await foreign.put(stream, hearNumber(position, sequence, at, random.uuid()).position, at);
    else await foreign.put(stream, noteRefused(position, sequence, code), before?.at ?? at);
  }

  return async (event) => {
    // Only what operations refused is believed; what we refused ourselves, over NATS, is counted.
    if (isForeign(event)) return;
    const refused = event.payload as RefusedForeignEvent;
    await transactToKnownEnd(ports, "risk.foreign", async (unit) => {
      if (event.source === "riskengine" || !(await unit.handled.firstTime(inbox, event.id))) return;
      await count(unit, refused);
      const { source, event_id: id, subject, code, reason: sentence } = refused;
      const about = { subject, payload: refused, id };
      await raiseRefused(unit, { event: about, source, service: "riskengine", at: clock.now() }, { code, sentence });
    });
    counted();
    if (event.subject === subjects.foreignHeld.name) throw heldFill(refused);
    throw refusedEvent({ code: refused.code, sentence: refused.reason });
  };
}
