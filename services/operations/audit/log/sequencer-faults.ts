// What the sequencer says when it takes no entry, and what it makes of the store's refusals.
import { Fault } from "../../../../contracts/src/fault.ts";
import type { AppendRequest, SequencerState } from "./append-request.ts";

const eventIdUnitsMax = 512;

export function isRefusedForGood(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.retry === "never";
}

export function isUnknown(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.code === "STORE_COMMIT_UNKNOWN";
}

export function isLostWriterEpoch(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.code === "STORE_CONFLICT";
}

export function refused(state: SequencerState, stillBecause: string): Fault | undefined {
  if (state === "taken over") return gone();
  if (state === "standing still") return new Fault("SERVICE_UNAVAILABLE", stillBecause, { retry: "later" });
  if (state !== "stopping") return undefined;
  return new Fault("SERVICE_STOPPING", "The audit log takes no more entries here: operations is stopping.", {
    retry: "later",
  });
}

export function badId({ eventId }: AppendRequest): Fault | undefined {
  if (eventId.length > 0 && eventId.length <= eventIdUnitsMax) return undefined;
  const sentence = `An event id has 1 to ${eventIdUnitsMax} characters, not ${eventId.length}.`;
  return new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
}

export function gone(): Fault {
  return new Fault("SERVICE_UNAVAILABLE", "Another process writes the audit log; this one writes nothing any more.", {
    retry: "later",
  });
}

export function unavailable(cause: unknown): Fault {
  return new Fault("STORE_UNAVAILABLE", "The audit entry could not be made durable.", { retry: "later", cause });
}

export function tooMuch(queueMax: number): Fault {
  return new Fault("RESOURCE_EXHAUSTED", `${queueMax} audit entries wait for the store, as many as may.`, {
    retry: "later",
  });
}
