// For whom a login of NATS speaks. The server holds a login to its own subjects, so where an event came is whose it is; no header and no payload says
// otherwise. A token may name the login: then what comes under it is the token's own, as over gRPC.
//
//  1. While no token names any login, what comes on the subjects without a prefix is believed as it was before there were prefixes.
//  2. From the first that is named on, those subjects mean the three logins that they always had, and nobody else.
//  3. What a login publishes below its own prefix never was anybody else's.
//  4. A token that ran out goes on to be spoken for; one that a person revoked does not: what the server took since then is marked, and a price is not heard.
import { Fault } from "../../../contracts/src/fault.ts";
import { foreignPublisherOf, sourceOfLogin } from "../../../contracts/src/foreign-events.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { isOwnSource } from "../../../contracts/src/platform-services.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import type { Clock } from "../../../ports/clock.ts";
import { foreignSource, readName } from "../wire.ts";

/** Whom a login speaks for. */
interface Paired {
  readonly source: string;
  /** Absent means every fund. */
  readonly funds?: readonly string[];
  /** Absent: nobody took the token away. */
  readonly revokedAt?: Instant;
}

/** By the login. */
export type PairedLogins = ReadonlyMap<string, Paired>;

export interface Logins {
  /** A durable event in the name of whoever published it. */
  spoken(event: BusEvent): Promise<BusEvent>;
  /** What is not stored, by the name under which it came; undefined for what must not count. Goes by what was known a moment ago. */
  heard(event: BusEvent, name: string): BusEvent | undefined;
  /** Asks, unless that was done a moment ago. */
  refresh(): Promise<void>;
  /** In one sentence, which logins published here that no token names. */
  note(): string | undefined;
}

interface LoginsOptions {
  readonly read: () => Promise<PairedLogins>;
  readonly clock: Clock;
}

const ageMsMax = 1_000;
/** Whoever has permissions to publish under any name could make any number of them. */
const namedMax = 10;

export function createLogins({ read, clock }: LoginsOptions): Logins {
  let known: PairedLogins | undefined;
  let readAt: Instant | undefined;
  let reading: Promise<PairedLogins> | undefined;
  /** That no token names, since this process began. */
  const unpaired = new Set<string>();
  /** Whose token is revoked, and which published since. */
  const revoked = new Set<string>();

  const isFresh = (): boolean => readAt !== undefined && Math.abs(millisecondsBetween(readAt, clock.now())) < ageMsMax;

  async function ask(): Promise<PairedLogins> {
    const at = clock.now();
    const found = await read();
    [known, readAt] = [found, at];
    return found;
  }

  function paired(): Promise<PairedLogins> {
    if (known !== undefined && isFresh()) return Promise.resolve(known);
    reading ??= ask().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function speaking(event: BusEvent, paired: PairedLogins): BusEvent {
    const login = event.login ?? foreignPublisherOf(event.subject)?.login;
    if (login === undefined) return event;
    const spokenFor = paired.get(login);
    if (spokenFor === undefined && unpaired.size < namedMax) unpaired.add(login);
    const isAsBefore = event.login === undefined && paired.size === 0;
    if (isAsBefore) return event;
    if (spokenFor === undefined) return { ...event, login, source: sourceOfLogin(login) };
    const { revokedAt, ...speaker } = spokenFor;
    const isRevoked = revokedAt !== undefined && event.at >= revokedAt;
    if (isRevoked && revoked.size < namedMax) revoked.add(login);
    return { ...event, login, ...speaker, ...(isRevoked && { isRevoked }) };
  }

  return {
    async spoken(event) {
      if (event.source !== foreignSource) return event;
      try {
        return speaking(event, await paired());
      } catch (cause) {
        const sentence = `For whom the logins of NATS speak cannot be read, so event ${event.id} waits.`;
        throw new Fault("STORE_UNAVAILABLE", sentence, { retry: "later", cause });
      }
    },
    heard(event, name) {
      const { isOwn } = readName(name);
      if (isOwn) return event;
      // Nobody waits for the answer, nor hears of a failure: what was known counts meanwhile.
      if (!isFresh()) paired().catch(() => undefined);
      if (known === undefined) return undefined;
      const isOurs = event.login === undefined && isOwnSource(event.source);
      if (isOurs && known.size === 0) return event;
      // What we publish ourselves came where only we may publish as well.
      if (isOurs) return undefined;
      // Whoever publishes a price dates it; it is heard when it is published.
      const spoken = speaking({ ...event, at: clock.now(), source: foreignSource }, known);
      if (spoken.isRevoked === true) return undefined;
      return spoken.login === undefined ? event : { ...spoken, payload: inNameOf(spoken.source, spoken.payload) };
    },
    refresh: () =>
      paired().then(
        () => undefined,
        () => undefined,
      ),
    note() {
      const notes = [unpairedNote(), revokedNote()].filter((note) => note !== undefined);
      return notes.length === 0 ? undefined : notes.join(" ");
    },
  };

  function unpairedNote(): string | undefined {
    const left = [...unpaired].filter((login) => known?.has(login) !== true).sort();
    if (left.length === 0) return undefined;
    const how =
      known?.size === 0
        ? "what they say is believed of whatever it is about, as before"
        : "they speak for themselves alone, and of no order that a token asked for";
    return `These logins of NATS are named by no token: ${left.join(", ")}; ${how}. Name the token that speaks for each: ctl auth tokens issue NAME --nats-login LOGIN.`;
  }

  function revokedNote(): string | undefined {
    const left = [...revoked].filter((login) => known?.get(login)?.revokedAt !== undefined).sort();
    if (left.length === 0) return undefined;
    return `These logins of NATS publish, and the token that each speaks for is revoked: ${left.join(", ")}; nothing of it counts. Take them away at the server, or name another token for each: ctl auth tokens issue NAME --nats-login LOGIN.`;
  }
}

/** A price says whose it is. */
function inNameOf(source: string, payload: unknown): unknown {
  return typeof payload === "object" && payload !== null && "source" in payload ? { ...payload, source } : payload;
}
