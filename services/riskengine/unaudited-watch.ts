// Changes that nobody audited, as the engine knows them: a halt that was lifted, a person, a key or a second factor that was put in without its event denies new
// risk, whoever did it, until it is undone or accepted. Halts and exits go on.
//
//  1. They are read before anything is served, and twice a second after that: one is noticed within a second.
//  2. What cannot be read for five seconds denies as well: nothing says that there is none.
//  3. It ends with the first reading that finds none.
import { Defect } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Health } from "../../ports/health.ts";
import type { UnauditedChange, UnauditedChanges } from "../../ports/unaudited-changes.ts";
import { startLoop } from "../shared/loop.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import { noticeTrouble } from "../shared/trouble.ts";
import { within } from "../shared/waiting.ts";
import type { Alarms } from "./alarms.ts";
import type { SafetyLooks } from "./safety-looks.ts";

const readEveryMs = 400;
/** A busy start is late by two or three. */
const unknownMs = 5_000;
/** The alarm and the denial name the first ones. */
const namedMax = 3;
const rowCharactersMax = 80;
const about = "records";

export interface UnauditedWatch {
  health(): Health;
  stop(): Promise<void>;
}

type Ports = Pick<ServicePorts, "clock" | "timers" | "log" | "crash"> & {
  readonly unauditedChanges: UnauditedChanges;
};

/** Undefined when there is none; without a full stop. */
export function sentenceOf(changes: readonly UnauditedChange[]): string | undefined {
  if (changes.length === 0) return undefined;
  const named = changes
    .slice(0, namedMax)
    .map(({ table, row, found }) => `${line(row, rowCharactersMax)} of ${table} was ${found}`);
  const more = changes.length > namedMax ? [`and there are more`] : [];
  return `A change has no event: ${[...named, ...more].join("; ")}`;
}

/** Resolves when the engine has the first reading. */
export async function watchUnaudited(
  ports: Ports,
  engine: Engine,
  alarms: Alarms,
  looks?: SafetyLooks,
): Promise<UnauditedWatch> {
  const { unauditedChanges, clock, timers, log } = ports;
  let heardAt = clock.now();
  let reading: Promise<void> | undefined;
  let heard: string | undefined;
  let block: string | undefined;
  let since: Instant | undefined;
  const trouble = noticeTrouble(log, {
    failing: "changes that nobody audited cannot be read",
    working: "changes that nobody audited can be read again",
  });

  async function read(): Promise<void> {
    // The answer is as old as the question.
    const askedAt = clock.now();
    hear(await unauditedChanges.list(namedMax + 1), askedAt);
  }

  function hear(changes: readonly UnauditedChange[], askedAt: Instant): void {
    heard = sentenceOf(changes);
    heardAt = askedAt;
    trouble.worked();
  }

  /** One that hangs is waited for, not asked again beside it. */
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

  function judge(): void {
    const isKnown = Math.abs(millisecondsBetween(heardAt, clock.now())) <= unknownMs;
    const unknown = "Whether a change was made without its event cannot be read";
    const before = block;
    block = heard ?? (isKnown ? undefined : unknown);
    if (block === undefined) {
      since = undefined;
      engine.setConditions("unaudited changes", []);
      if (before === undefined) return;
      alarms.clear("UNAUDITED_CHANGE_STOPS_NEW_RISK", about);
      log.info("every change has its event again, and new risk is no longer denied for one that has none");
      return;
    }
    since ??= clock.now();
    engine.setConditions("unaudited changes", [{ code: "UNAUDITED_CHANGE", reason: block, since }]);
    if (before !== undefined && before !== block) alarms.clear("UNAUDITED_CHANGE_STOPS_NEW_RISK", about);
    alarms.raise(
      "UNAUDITED_CHANGE_STOPS_NEW_RISK",
      about,
      `${block}: new risk is denied until it is undone, or accepted by an admin and a second person.`,
    );
  }

  async function readAlone(ending?: AbortSignal): Promise<void> {
    await within(timers, readEveryMs, readOnce(), undefined, ending);
    judge();
  }

  await read();
  judge();
  const informed = (changes: readonly UnauditedChange[], askedAt: Instant): void => {
    hear(changes, askedAt);
    judge();
  };
  const isInformed = looks?.follow({ question: "unaudited", everyMs: readEveryMs, hear: informed, alone: readAlone });
  // Where others read it as well, it is seen sooner that they do not.
  const everyMs = isInformed === undefined ? readEveryMs : readEveryMs / 2;
  const loop = startLoop({
    ports,
    what: "the watch over changes that nobody audited",
    firstAfterMs: everyMs,
    async run(ending) {
      if (isInformed?.() === true) judge();
      else await readAlone(ending);
      return everyMs;
    },
    troubleMsMax: everyMs,
  });
  return {
    health: () => (block === undefined ? { status: "ok" } : { status: "ok", complaint: `${block}.` }),
    stop: loop.stop,
  };
}
