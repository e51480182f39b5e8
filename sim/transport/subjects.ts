// What the simulated services say to each other. These subjects exist in the simulator only.
import { z } from "zod";
import type { Subject } from "../../contracts/src/subject.ts";

const simPayload = z.object({
  /** The row that was changed; order is kept within it. */
  key: z.string(),
  /** Counts the changes of that row in commit order. */
  n: z.number(),
  /** For an effect: which subscription made it, and of which event. */
  subscription: z.string().optional(),
  eventId: z.string().optional(),
});

export type SimPayload = z.infer<typeof simPayload>;

function simSubject(name: string, sentence: string): Subject<SimPayload> {
  return { name, sentence, delivery: "durable", schema: simPayload, key: (payload) => payload.key };
}

export const rowChanged = simSubject("sim.v1.row.changed", "A writer changed a row.");
export const effectMade = simSubject("sim.v1.effect.made", "A subscriber acted on a change.");

export function simSubjectByName(name: string): Subject<unknown> | undefined {
  return [rowChanged, effectMade].find((subject) => subject.name === name);
}
