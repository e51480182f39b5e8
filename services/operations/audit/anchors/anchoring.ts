// Shows every checkpoint that was signed to the anchors, each at its own pace: the newest next, again and again until it is kept, less often while that
// fails. Nothing of the log ever waits for an anchor; one that stays behind is an alarm.
import { Defect, messageOf } from "../../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../../contracts/src/instant.ts";
import type { Anchor, AnchoredCheckpoint } from "../../../../ports/anchors.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { Log } from "../../../../ports/log.ts";
import type { Timers } from "../../../../ports/timers.ts";
import { endsWithin, pollUntil } from "../../../shared/waiting.ts";
import type { AuditAlarms } from "../checking/alarms.ts";
import type { SignedCheckpoint } from "../log/checkpoints.ts";

export interface AnchorState {
  readonly name: string;
  /** Of the newest checkpoint that it is known to have; 0 before the first. */
  readonly size: number;
  /** How long it has been behind what was signed; 0 when it is not. */
  readonly behindMs: number;
  /** Why the last attempt failed. */
  readonly complaint: string | undefined;
}

/** What an anchor has, for comparing; undefined when it has nothing of this log or does not answer. */
export interface AnchorRead {
  readonly name: string;
  readonly newest: AnchoredCheckpoint | undefined;
  readonly complaint: string | undefined;
}

export interface Anchoring {
  /** A checkpoint was signed and stored. */
  signed(checkpoint: SignedCheckpoint): void;
  states(): readonly AnchorState[];
  /** Tries once more to keep what is not kept, for at most so long. */
  stop(patienceMs: number): Promise<void>;
}

interface AnchoringOptions {
  readonly anchors: readonly Anchor[];
  readonly origin: string;
  /** What each had at the start. */
  readonly known: readonly AnchorRead[];
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly alarms: AuditAlarms;
  readonly onDefect: (defect: Defect) => void;
}

const answerMsMax = 10_000;
const againMs = { first: 1_000, max: 60_000 };
const behindMsMax = 300_000;

interface Keeping {
  readonly anchor: Anchor;
  size: number;
  wanted: SignedCheckpoint | undefined;
  /** Since when something is signed that it does not have. */
  behindSince: Instant | undefined;
  complaint: string | undefined;
  running: Promise<void> | undefined;
}

export function startAnchoring(options: AnchoringOptions): Anchoring {
  const { origin, clock, timers, log, alarms } = options;
  const ending = new AbortController();
  const keepings: Keeping[] = options.anchors.map((anchor) => {
    const known = options.known.find(({ name }) => name === anchor.name);
    return {
      anchor,
      size: known?.newest?.size ?? 0,
      wanted: undefined,
      behindSince: undefined,
      running: undefined,
      complaint: known?.complaint,
    };
  });

  async function run(it: Keeping): Promise<void> {
    const { signal } = ending;
    const polling = { timers, everyMs: againMs.first, everyMsMax: againMs.max, signal };
    while (it.wanted !== undefined && !signal.aborted) await pollUntil(polling, () => keepNext(it));
    // At the end one that is still wanted is tried once more.
    if ((await keepNext(it)) === undefined) return;
    it.behindSince = undefined;
    if (keepings.every(({ behindSince }) => behindSince === undefined)) alarms.clear("AUDIT_ANCHOR_BEHIND");
  }

  /** Undefined when it is to be tried again. */
  async function keepNext(it: Keeping): Promise<"kept" | undefined> {
    const next = it.wanted;
    if (next === undefined) return "kept";
    it.wanted = undefined;
    it.complaint = await attempt(it, next);
    if (it.complaint === undefined) return "kept";
    // What came meanwhile is larger and says more.
    it.wanted ??= next;
    log.warn("a checkpoint was not anchored", { size: next.size, complaint: it.complaint });
    alarmIfBehind(it);
    return undefined;
  }

  /** Why not, in a sentence; undefined when it is kept. */
  async function attempt(it: Keeping, { size, note }: SignedCheckpoint): Promise<string | undefined> {
    try {
      const keeping = it.anchor.keep({ origin, size, note });
      if (!(await endsWithin(timers, keeping, answerMsMax))) return `It did not answer within ${answerMsMax} ms.`;
      await keeping;
      it.size = Math.max(it.size, size);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof Defect) options.onDefect(thrown);
      return messageOf(thrown);
    }
  }

  function alarmIfBehind({ anchor, behindSince, complaint }: Keeping): void {
    if (behindSince === undefined || millisecondsBetween(behindSince, clock.now()) < behindMsMax) return;
    const minutes = Math.floor(millisecondsBetween(behindSince, clock.now()) / 60_000);
    alarms.raise(
      "AUDIT_ANCHOR_BEHIND",
      `The anchor ${anchor.name} has kept nothing for ${minutes} minutes: ${complaint ?? ""}`,
    );
  }

  return {
    signed(checkpoint) {
      if (ending.signal.aborted) return;
      for (const it of keepings) {
        // At the start the newest one is shown to all, and some have it.
        if (it.size >= checkpoint.size) continue;
        it.wanted = checkpoint;
        it.behindSince ??= clock.now();
        it.running ??= run(it).finally(() => {
          it.running = undefined;
        });
      }
    },
    states: () =>
      keepings.map(({ anchor, size, behindSince, complaint }) => ({
        name: anchor.name,
        size,
        complaint,
        behindMs: behindSince === undefined ? 0 : Math.max(0, millisecondsBetween(behindSince, clock.now())),
      })),
    async stop(patienceMs) {
      ending.abort();
      await endsWithin(timers, Promise.all(keepings.map(({ running }) => running)), patienceMs);
    },
  };
}

/** What every anchor has of this log, each asked for at most so long. */
export function readAnchors(
  anchors: readonly Anchor[],
  origin: string,
  timers: Timers,
): Promise<readonly AnchorRead[]> {
  return Promise.all(
    anchors.map(async (anchor): Promise<AnchorRead> => {
      const { name } = anchor;
      try {
        const asked = anchor.newest(origin);
        if (await endsWithin(timers, asked, answerMsMax)) return { name, newest: await asked, complaint: undefined };
        return { name, newest: undefined, complaint: `It did not answer within ${answerMsMax} ms.` };
      } catch (thrown) {
        if (thrown instanceof Defect) throw thrown;
        return { name, newest: undefined, complaint: messageOf(thrown) };
      }
    }),
  );
}
