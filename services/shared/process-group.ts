// The processes of one data folder are a group. Where several groups use one database, one of them is at work and the others stand by: the writer epochs
// keep a second writer out, and this keeps it from coming back to fight for them.
//
//  1. Who starts while another group holds a lease for one of the same services stands by.
//  2. Of two groups that are at work at once, as after one that hung woke up, the one whose supervisor started later stays, with all of its services.
import type { Instant } from "../../contracts/src/instant.ts";
import type { Instance } from "../../ports/store.ts";

export interface ProcessGroup {
  /** The same for every start on one data folder of one machine, and for no other. */
  readonly mark: string;
  /** When its supervisor started; microseconds. */
  readonly startedAt: Instant;
}

/** An incarnation says whose it is. */
export function incarnationIn(group: ProcessGroup, id: string): string {
  return `${group.startedAt}.${group.mark}.${id}`;
}

function groupOf({ incarnation }: Instance): ProcessGroup | undefined {
  const [startedAt = "", mark, id] = incarnation.split(".");
  return mark === undefined || id === undefined ? undefined : { mark, startedAt: Number(startedAt) as Instant };
}

/** A process of another group that does the work of one of these services. */
export function otherAtWork(
  alive: readonly Instance[],
  services: readonly string[],
  own: ProcessGroup,
): Instance | undefined {
  return alive.find((instance) => services.includes(instance.service) && groupOf(instance)?.mark !== own.mark);
}

/** The same, of a group that stays when both are at work. */
export function takenOverBy(
  alive: readonly Instance[],
  services: readonly string[],
  own: ProcessGroup,
): Instance | undefined {
  return alive.find((instance) => {
    const group = groupOf(instance);
    if (group === undefined || group.mark === own.mark || !services.includes(instance.service)) return false;
    return group.startedAt === own.startedAt ? group.mark > own.mark : group.startedAt > own.startedAt;
  });
}
