// One look for all that the engine must know all the time: whoever watches one of these hears from the look that reads the halts, as often as it would read by
// itself, and reads by itself where it hears nothing.
//
//  1. Halts never wait for the others: where the common read fails or has no answer in time, they are read alone, at once and for some seconds after that;
//     and so is everything else that was due.
//  2. The others never wait for the halts: whoever did not hear in time reads alone, waits no longer than its own interval for that, and begins no second read
//     beside one that hangs.
//  3. An answer that comes after that to a later question says what was, and counts no more.
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
  /** A question goes out now; what comes of it is handed to the answer. */
  ask(at: Instant): (fact: SafetyFacts[Question]) => void;
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
      const heardBy = isAsked ? due.map(({ follower }) => [follower.question, follower.ask(at)] as const) : [];
      const answer = isAsked ? await ask(due.map(({ follower }) => follower.question)) : undefined;
      if (answer === undefined) {
        if (isAsked || asking !== undefined) failedAt = at;
        for (const { follower } of due) void follower.alone();
        return riskStore.haltEpoch();
      }
      failedAt = undefined;
      for (const [question, hear] of heardBy) {
        if (question in answer.facts) hear(answer.facts[question] as never);
      }
      return answer.haltEpoch;
    },
    follow(follower) {
      const following: Following = {
        follower: follower as unknown as Follower<SafetyQuestion>,
        askedAt: clock.now(),
      };
      followings.push(following);
      return () => Math.abs(millisecondsBetween(following.askedAt, clock.now())) <= follower.everyMs + lateMs;
    },
  };
}

interface Reader<Question extends SafetyQuestion> {
  readonly question: Question;
  readonly everyMs: number;
  /** Reads by itself. */
  ask(): Promise<SafetyFacts[Question]>;
  /** The answer is as old as the question. */
  hear(fact: SafetyFacts[Question], askedAt: Instant): void;
  readonly trouble: { readonly failing: string; readonly working: string };
  /** After whatever was heard, and after each of its times, also when nothing could be read. */
  judge?(): void;
}

/** Hears from the looks where there are any, and reads by itself where it does not hear in time. Resolves when it has heard for the first time. */
export async function startReader<Question extends SafetyQuestion>(
  ports: LoopPorts & Pick<ServicePorts, "clock">,
  looks: SafetyLooks | undefined,
  { question, everyMs, ask, hear, trouble: what, judge }: Reader<Question>,
): Promise<Loop> {
  const { clock, timers } = ports;
  const trouble = noticeTrouble(ports.log, what);
  let questions = 0;
  let heard = 0;
  let reading: Promise<void> | undefined;

  function begin(askedAt: Instant): (fact: SafetyFacts[Question]) => void {
    questions += 1;
    const number = questions;
    return (fact) => {
      if (number < heard) return;
      heard = number;
      hear(fact, askedAt);
      trouble.worked();
      judge?.();
    };
  }

  async function read(): Promise<void> {
    const answer = begin(clock.now());
    answer(await ask());
  }

  function readOnce(): Promise<void> {
    reading ??= read()
      .catch((thrown: unknown) => {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        trouble.failed(thrown);
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  async function alone(ending?: AbortSignal): Promise<void> {
    await within(timers, everyMs, readOnce(), undefined, ending);
    judge?.();
  }

  await read();
  const isInformed = looks?.follow<Question>({ question, everyMs, ask: begin, alone: () => alone() });
  return startLoop({
    ports,
    what,
    firstAfterMs: everyMs,
    async run(ending) {
      if (isInformed?.() !== true) {
        await alone(ending);
        return everyMs;
      }
      judge?.();
      // It is seen sooner that others read it no more.
      return everyMs / 2;
    },
    troubleMsMax: everyMs,
  });
}
