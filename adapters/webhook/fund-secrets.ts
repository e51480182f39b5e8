// Whether a caller knows a fund's webhook secret.
//
//  1. A secret is kept in memory as a keyed hash, for five seconds at most, under a key that this process alone has; the text itself is not kept.
//  2. A fund without a secret, and a fund that there is not, cannot be distinguished: the same work is done and the same answer given.
//  3. A wrong secret is looked up once more when what is known is older than a quarter of a second, so that a secret that was just written elsewhere
//     works, and guessers cannot make us ask the store as often as they like.
//  4. When the store cannot be asked, the answer is neither yes nor no.
import { createHmac, timingSafeEqual } from "node:crypto";
import { type Instant, parse } from "../../contracts/src/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Stopwatch } from "../../ports/stopwatch.ts";
import { readRotation, secretPaths } from "./secret-paths.ts";

export interface FundSecrets {
  /** Rejects when it cannot be checked. */
  isRight(fundId: string, given: string): Promise<boolean>;
  /** What was read of this fund is read again before the next answer. */
  forget(fundId: string): void;
}

interface FundSecretsPorts {
  readonly secrets: Pick<Secrets, "get">;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly random: Random;
  /** `secret/<prefix>`. */
  readonly folder: string;
}

interface Known {
  readonly readAtMs: number;
  /** All that are good; the one in use has no end. */
  readonly good: readonly { readonly hash: Buffer; readonly until: Instant | undefined }[];
}

const knownMsMax = 5_000;
const askAgainMs = 250;
const fundsMax = 1_024;

export function fundSecrets({ secrets, clock, stopwatch, random, folder }: FundSecretsPorts): FundSecrets {
  const key = random.bytes(32);
  const known = new Map<string, Known>();
  const reading = new Map<string, Promise<Known>>();
  const nobody = Buffer.alloc(32);
  const hashOf = (text: string): Buffer => createHmac("sha256", key).update(text, "utf8").digest();
  const nowMs = (): number => stopwatch() / 1_000;

  async function read(fundId: string): Promise<Known> {
    const readAtMs = nowMs();
    const paths = secretPaths(folder, fundId);
    if (paths === undefined) return { readAtMs, good: [] };
    const [secret, rotation] = await Promise.all([secrets.get(paths.secret), secrets.get(paths.rotation)]);
    const previous = readRotation(rotation?.value)?.previous ?? [];
    const good = [
      ...(secret === undefined ? [] : [{ hash: hashOf(secret.value), until: undefined }]),
      // Whoever deletes a secret means those before it as well.
      ...(secret === undefined
        ? []
        : previous.map((one) => ({ hash: hashOf(one.value), until: parse(one.valid_until) }))),
    ];
    return { readAtMs, good };
  }

  /** One reading at a time for a fund; a reading that was begun before `forget` is not remembered. */
  function readOnce(fundId: string): Promise<Known> {
    const underway = reading.get(fundId);
    if (underway !== undefined) return underway;
    const begun = read(fundId)
      .then((found) => {
        if (reading.get(fundId) === begun) remember(fundId, found);
        return found;
      })
      .finally(() => {
        if (reading.get(fundId) === begun) reading.delete(fundId);
      });
    reading.set(fundId, begun);
    return begun;
  }

  function remember(fundId: string, found: Known): void {
    known.delete(fundId);
    const [oldest] = known.size >= fundsMax ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    known.set(fundId, found);
  }

  function isAmong({ good }: Known, given: Buffer): boolean {
    const now = clock.now();
    // Every one is compared, also when there is none: how long it takes says nothing.
    const compared = [...good, { hash: nobody, until: now }];
    return compared
      .map(({ hash, until }) => timingSafeEqual(hash, given) && (until === undefined || now < until))
      .includes(true);
  }

  return {
    async isRight(fundId, given) {
      const hash = hashOf(given);
      const remembered = known.get(fundId);
      const ageMs = remembered === undefined ? Number.POSITIVE_INFINITY : nowMs() - remembered.readAtMs;
      if (remembered !== undefined && ageMs < knownMsMax) {
        if (isAmong(remembered, hash)) return true;
        if (ageMs < askAgainMs) return false;
      }
      return isAmong(await readOnce(fundId), hash);
    },
    forget(fundId) {
      known.delete(fundId);
      reading.delete(fundId);
    },
  };
}
