// The subjects that the conformance suites publish under. A fixture hands them to its transport as the known subjects, so that
// the suites never depend on the platform's own list.
import { z } from "zod";
import type { Subject } from "../../contracts/src/subject.ts";

/** Every subject of the platform begins with this, and a transport may be bound to it. */
export const conformanceRoot = ["svc", "v1", "conformance"].join(".");

const thingSchema = z.object({
  key: z.string(),
  n: z.number(),
  text: z.string().optional(),
  nested: z.unknown().optional(),
});

export type Thing = z.infer<typeof thingSchema>;

function thingSubject(name: string, delivery: "durable" | "conflated"): Subject<Thing> {
  return {
    name: `${conformanceRoot}.${name}`,
    sentence: "Published by the conformance suites only.",
    delivery,
    schema: thingSchema,
    key: (thing) => thing.key,
  };
}

export const thingChanged = thingSubject("thing.changed", "durable");
export const appleRed = thingSubject("apple.red", "durable");
export const appleGreen = thingSubject("apple.green", "durable");
export const appleRedDark = thingSubject("apple.red.dark", "durable");
export const pearRed = thingSubject("pear.red", "durable");
export const markMoved = thingSubject("mark.moved", "conflated");

/** All of them: what a fixture's transport must know. */
export const conformanceSubjects: readonly Subject<Thing>[] = [
  thingChanged,
  appleRed,
  appleGreen,
  appleRedDark,
  pearRed,
  markMoved,
];

/** The lookup that a fixture hands to its transport in place of the platform's own. */
export function conformanceSubjectByName(name: string): Subject<unknown> | undefined {
  return conformanceSubjects.find((subject) => subject.name === name);
}
