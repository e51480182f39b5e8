// One look for all that the engine must know all the time: whoever watches one of these hears from the look that reads the halts, as often as it would read by
// itself, and reads by itself where it hears nothing.
//
//  1. Halts never wait for the others: where the common read fails or has no answer in time, they are read alone, at once and for some seconds after that;
//     and so is everything else that was due.
//  2. The others never wait for the halts: whoever did not hear in time reads alone.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { SafetyFacts, SafetyQuestion, SafetyReads } from "../../ports/safety-reads.ts";
import { type Loop, type LoopPorts, startLoop } from "../shared/loop.ts";
import type { ServicePorts } from "../shared/service.ts";
import { noticeTrouble } from "../shared/trouble.ts";
import { within } from "../shared/waiting.ts";

/** A read that takes longer is not waited for. */
const patienceMs = 200;
/** After one that failed all are read alone for so long. */
const aloneForMs = 5_000;
/** Looks come every 300 ms or so: one is due with the look that is nearest to its time, so its next one may be this much later than that. */
const lookHalfMs = 150;
const lateMs = 300;

interface Follower<Question extends SafetyQuestion> {
  readonly question: Question;
  /** How often it wants to know. */
  readonly everyMs: number;
  hear(fact: SafetyFacts[Question], askedAt: Instant): void;
  /** Reads by itself; never rejects. */
  alone(): Promise<void>;
}

export interface SafetyLooks {
  /** The epoch of the halts; whoever is due hears of theirs. */
  haltEpoch(): Promise<number>;
  /** Gives the function that says whether it heard in time. */
  follow<Question extends SafetyQuestion>(follower: Follower<Question>): () => boolean;
}

type Ports = Pick<ServicePorts, "riskStore" | "clock" | "timers" | "log">;

/** The looks, and the store whose epoch of the halts is read by them; without them where each is read alone. */
export function withSafetyLooks(ports: Ports & { readonly safetyReads?: SafetyReads }): {
  readonly looks: SafetyLooks | undefined;
  readonly riskStore: Ports["riskStore"];
} {
  const { safetyReads, riskStore } = ports;
  if (safetyReads === undefined) return { looks: undefined, riskStore };
  const looks = createSafetyLooks({ ...ports, safetyReads });
  return { looks, riskStore: { ...riskStore, haltEpoch: looks.haltEpoch } };
}

interface Following {
  readonly follower: Follower<SafetyQuestion>;
  askedAt: Instant;
  reading: Promise<void> | undefined;
}

export function createSafetyLooks(ports: Ports & { readonly safetyReads: SafetyReads }): SafetyLooks {
  const { riskStore, safetyReads, clock, timers, log } = ports;
  const followings: Following[] = [];
  let asking: Promise<unknown> | undefined;
  let failedAt: Instant | undefined;

  /** Undefined when it failed or was not answered in time. */
  async function ask(questions: readonly SafetyQuestion[]) {
    const asked = safetyReads.read(questions).catch((thrown: unknown) => {
      if (failedAt === undefined)
        log.warn("halts and all beside them cannot be read together", { error: messageOf(thrown) });
      return undefined;
    });
    asking = asked;
    void asked.then(() => {
      asking = undefined;
    });
    return within(timers, patienceMs, asked, undefined);
  }

  function mayAsk(at: Instant): boolean {
    if (asking !== undefined) return false;
    return failedAt === undefined || Math.abs(millisecondsBetween(failedAt, at)) >= aloneForMs;
  }

  function readAlone(following: Following): void {
    following.reading ??= following.follower.alone().finally(() => {
      following.reading = undefined;
    });
  }

  return {
    async haltEpoch() {
      const at = clock.now();
      const due = followings.filter(({ askedAt, follower }) => {
        const sinceMs = millisecondsBetween(askedAt, at);
        return sinceMs < 0 || sinceMs + lookHalfMs >= follower.everyMs;
      });
      if (due.length === 0) return riskStore.haltEpoch();
      for (const following of due) following.askedAt = at;
      const isAsked = mayAsk(at);
      const answer = isAsked ? await ask(due.map(({ follower }) => follower.question)) : undefined;
      if (answer === undefined) {
        if (isAsked || asking !== undefined) failedAt = at;
        for (const following of due) readAlone(following);
        return riskStore.haltEpoch();
      }
      failedAt = undefined;
      for (const { follower } of due) {
        if (follower.question in answer.facts) follower.hear(answer.facts[follower.question] as never, at);
      }
      return answer.haltEpoch;
    },
    follow(follower) {
      const following: Following = {
        follower: follower as unknown as Follower<SafetyQuestion>,
        askedAt: clock.now(),
        reading: undefined,
      };
      followings.push(following);
      return () => Math.abs(millisecondsBetween(following.askedAt, clock.now())) <= follower.everyMs + lateMs;
    },
  };
}

interface Reader<Question extends SafetyQuestion> extends Omit<Follower<Question>, "alone"> {
  /** Reads by itself. */
  read(): Promise<void>;
  readonly trouble: { readonly failing: string; readonly working: string };
  /** After each of its times, whoever has read, and also when nothing could be read. */
  judge?(): void;
}

/** Hears from the looks where there are any, and reads by itself where it does not hear in time. */
export function startReader<Question extends SafetyQuestion>(
  ports: LoopPorts,
  looks: SafetyLooks | undefined,
  { question, everyMs, hear, read, trouble: what, judge }: Reader<Question>,
): Loop {
  const trouble = noticeTrouble(ports.log, what);
  async function alone(): Promise<void> {
    try {
      await read();
      trouble.worked();
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      trouble.failed(thrown);
    }
  }
  const isInformed = looks?.follow<Question>({ question, everyMs, hear, alone });
  return startLoop({
    ports,
    what,
    firstAfterMs: everyMs,
    async run() {
      if (isInformed?.() !== true) await alone();
      judge?.();
      return everyMs;
    },
    troubleMsMax: everyMs,
  });
}
