// Changes that nobody audited, as the engine knows them: a halt that was lifted, a person, a key or a second factor that was put in without its event denies new
// risk, whoever did it, until it is undone or accepted. Halts and exits go on.
//
//  1. They are read before anything is served, and twice a second after that: one is noticed within a second.
//  2. What cannot be read for five seconds denies as well: nothing says that there is none.
//  3. It ends with the first reading that finds none.
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Health } from "../../ports/health.ts";
import type { UnauditedChange, UnauditedChanges } from "../../ports/unaudited-changes.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { Alarms } from "./alarms.ts";
import { type SafetyLooks, startReader } from "./safety-looks.ts";

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
  const { unauditedChanges, clock, log } = ports;
  let heardAt = clock.now();
  let heard: string | undefined;
  let block: string | undefined;
  let since: Instant | undefined;
  function hear(changes: readonly UnauditedChange[], askedAt: Instant): void {
    heard = sentenceOf(changes);
    heardAt = askedAt;
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

  const loop = await startReader(ports, looks, {
    question: "unaudited",
    everyMs: readEveryMs,
    ask: () => unauditedChanges.list(namedMax + 1),
    hear,
    judge,
    trouble: {
      failing: "changes that nobody audited cannot be read",
      working: "changes that nobody audited can be read again",
    },
  });
  return {
    health: () => (block === undefined ? { status: "ok" } : { status: "ok", complaint: `${block}.` }),
    stop: loop.stop,
  };
}
