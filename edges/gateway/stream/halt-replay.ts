// What a client that read the halts up to a sequence has missed: every change since then, and the halts as they were at that moment, so that the changes
// add up. When the changes are no longer kept, or its sequence is none of ours, the gap is named and it begins with what is in force.
import type { FollowedHalts, PublicHalt } from "../public/public-halts.ts";

interface HaltReplay {
  /** Where the snapshot stands; the changes after it follow. */
  readonly sequence: number;
  readonly halts: readonly PublicHalt[];
  readonly gap?: { readonly from: number; readonly to: number; readonly detail: string };
}

export function replayHalts({ epoch, halts, changes }: FollowedHalts, resume: number | undefined): HaltReplay {
  if (resume === undefined) return { sequence: epoch, halts };
  if (resume > epoch) {
    const detail = `${resume} is ahead of this platform, which is at ${epoch}: it is another history.`;
    return { sequence: epoch, halts, gap: { from: 0, to: epoch, detail } };
  }
  const missed = changes.filter(({ sequence }) => sequence > resume);
  if (missed.length < epoch - resume) {
    const detail = "These changes are no longer kept; the snapshot has what is in force.";
    return { sequence: epoch, halts, gap: { from: resume + 1, to: epoch, detail } };
  }
  // Backwards: what was raised since was not there, what was lifted since was.
  let then: readonly PublicHalt[] = halts;
  for (const { change, halts: changed } of [...missed].reverse()) {
    const ids = new Set(changed.map(({ halt_id: id }) => id));
    then = change === "raised" ? then.filter(({ halt_id: id }) => !ids.has(id)) : [...then, ...changed];
  }
  return { sequence: resume, halts: [...then].sort((one, other) => (one.epoch ?? 0) - (other.epoch ?? 0)) };
}
