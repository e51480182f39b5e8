// Whether a process may publish a subject at all, by the table of authority. Asked before anything is written to the outbox or
// broadcast, so that a service that speaks in another's name is found in its own process, with the line that did it.
import { mayPublish } from "../../contracts/src/authority.ts";
import { Defect } from "../../contracts/src/fault.ts";
import { foreignDurableSubjects, isForeignSource } from "../../contracts/src/foreign-events.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Bus } from "../../ports/bus.ts";

export type MayPublish = (subjectName: string) => boolean;

/** A process may publish what any of the services that it runs may. */
export function publishAuthority(services: readonly string[]): MayPublish {
  return (subjectName) => services.some((service) => mayPublish(service, subjectName));
}

/** A Defect when it may not: only our own code gets here. Without a table everything is allowed, for subjects that tests invent. */
export function mustBePublisher(allowed: MayPublish | undefined, source: string, subjectName: string): void {
  if (allowed === undefined || allowed(subjectName)) return;
  throw new Defect(`${source} may not publish ${subjectName}: contracts/src/authority.ts names its publishers`);
}

/** Operations takes in events of programs outside: whoever publishes this is it. */
const takesIn = subjects.haltStep.name;

/** A Defect for a source that is ours, a subject that no program outside may publish, or a process that does not run operations. */
export function mustBeForeign(allowed: MayPublish | undefined, source: string, subjectName: string): void {
  if (!isForeignSource(source)) throw new Defect(`${source} is a service of the platform, and no program outside it`);
  if (allowed === undefined) return;
  if (allowed(takesIn) && foreignDurableSubjects.includes(subjectName)) return;
  throw new Defect(`${subjectName} may not be published for ${source}: contracts/src/foreign-events.ts names what may`);
}

/** The same bus, on which only what this process may publish is broadcast. */
export function withPublishAuthority(bus: Bus, allowed: MayPublish, source: string): Bus {
  return {
    ...bus,
    broadcast(subject, payload) {
      mustBePublisher(allowed, source, subject.name);
      bus.broadcast(subject, payload);
    },
  };
}
