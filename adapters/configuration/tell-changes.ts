// At every start the configuration in force is compared with that of the last start, and every key that changed becomes an event, in one transaction
// with the new state. So the audit log knows when a limit of the platform itself was moved, although a file is changed without asking anybody.
//
//  1. The last start's values are kept by the first of the parts that the process starts: parts on several machines may have settings of their own.
//  2. What is secret is kept as a salted digest that is slow to guess, and is reported as changed, without its value.
//  3. The first start of all has nothing to compare with: it is reported once, as `*`.
import { createHash, randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { format } from "../../contracts/src/instant.ts";
import type { ConfigurationChanged } from "../../contracts/src/records/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ConfigurationValue, Store } from "../../ports/store.ts";
import { type EffectiveValue, effectiveValues } from "./effective-values.ts";
import type { Configuration } from "./schema.ts";

interface TellChangesPorts {
  readonly store: Pick<Store, "transact">;
  readonly clock: Clock;
}

/** How many keys changed since the last start: none at the first start of all, although that is reported. */
export async function tellConfigurationChanges(
  configuration: Configuration,
  service: string,
  { store, clock }: TellChangesPorts,
): Promise<number> {
  const values = effectiveValues(configuration);
  return store.transact("configuration.start", async (unit) => {
    const before = await unit.configuration.lock(service);
    const at = format(clock.now());
    const changes = before.length === 0 ? [firstOf(values)] : changesBetween(before, values);
    for (const { path, ...reported } of changes) {
      const event: ConfigurationChanged = { service, path, ...reported, actor: service, at };
      await unit.events.publish(subjects.configurationChanged, event);
    }
    const paths = new Set(before.length === 0 ? values.map(({ path }) => path) : changes.map(({ path }) => path));
    const [kept, gone] = [values.filter(({ path }) => paths.has(path)), goneOf(before, values)];
    if (kept.length > 0) await unit.configuration.put(service, kept.map(storedOf));
    if (gone.length > 0) await unit.configuration.remove(service, gone);
    return before.length === 0 ? 0 : changes.length;
  });
}

type Change = Pick<ConfigurationChanged, "path" | "old_value" | "new_value" | "redacted">;

function firstOf(values: readonly EffectiveValue[]): Change {
  return { path: "*", new_value: `${values.length} keys, as they were at the first start`, redacted: false };
}

function changesBetween(before: readonly ConfigurationValue[], after: readonly EffectiveValue[]): readonly Change[] {
  const known = new Map(before.map((value) => [value.path, value]));
  const changed = after.flatMap((value): readonly Change[] => {
    const old = known.get(value.path);
    if (old !== undefined && isSame(old.digest, value.text)) return [];
    const redacted = value.redacted || (old !== undefined && isSlow(old.digest));
    const reported = { path: value.path, new_value: value.shown, redacted };
    return [old === undefined ? reported : { ...reported, old_value: old.shown }];
  });
  const gone = new Set(goneOf(before, after));
  const removed = before.filter(({ path }) => gone.has(path));
  return [
    ...changed,
    ...removed.map(({ path, shown, digest }) => ({ path, old_value: shown, redacted: isSlow(digest) })),
  ];
}

function goneOf(before: readonly ConfigurationValue[], after: readonly EffectiveValue[]): readonly string[] {
  const left = new Set(after.map(({ path }) => path));
  return before.map(({ path }) => path).filter((path) => !left.has(path));
}

const slow = "scrypt";
const digestBytes = 32;

function storedOf({ path, shown, redacted, text }: EffectiveValue): ConfigurationValue {
  return { path, shown, digest: redacted ? slowDigest(text, randomBytes(16)) : fastDigest(text) };
}

const isSlow = (digest: string): boolean => digest.startsWith(`${slow}:`);

const fastDigest = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

function slowDigest(text: string, salt: Buffer): string {
  return `${slow}:${salt.toString("hex")}:${scryptSync(text, salt, digestBytes).toString("hex")}`;
}

function isSame(digest: string, text: string): boolean {
  const salt = isSlow(digest) ? Buffer.from(digest.split(":")[1] ?? "", "hex") : undefined;
  const [kept, made] = [digest, salt === undefined ? fastDigest(text) : slowDigest(text, salt)].map((one) =>
    Buffer.from(one),
  );
  return kept !== undefined && made !== undefined && kept.length === made.length && timingSafeEqual(kept, made);
}
