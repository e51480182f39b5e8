// How our own processes recognise each other: a token per service that holds for 15 minutes, derived from one key in the secrets store. There is nothing
// to store and nothing to ask, so a process can be asked for its health while the database is away; what else each may ask of the others is in
// the table of authority.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../../contracts/src/fault.ts";
import {
  fromUnixMs,
  type Instant,
  millisecondsBetween,
  plusMilliseconds,
  toUnixMs,
} from "../../contracts/src/instant.ts";
import { type OwnProcess, ownProcesses } from "../../contracts/src/platform-services.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { Secrets } from "../../ports/secrets.ts";
import { findOrMakeSecret } from "./shared-secret.ts";

export const platformTokenPrefix = "pci_";
const keyBytes = 32;
const keyForm = /^[A-Za-z0-9_-]{43}$/;
const tokenForm = /^pci_([a-z]{1,32})_([1-9]\d{0,11})_([0-9a-f]{64})$/;
/** How long a token of our own processes holds. */
const platformTokenMs = 15 * 60_000;
const renewAtMs = 10 * 60_000;
const clockToleranceMs = 60_000;

export async function openPlatformKey(secrets: Secrets, prefix: string, random: Random): Promise<string> {
  const path = `secret/${prefix}/identity/platform-key`;
  const make = () => Buffer.from(random.bytes(keyBytes)).toString("base64url");
  const found = await findOrMakeSecret(secrets, path, make);
  if (keyForm.test(found)) return found;
  throw new Fault(
    "SECRETS_CORRUPT",
    `The secret ${path} is not a platform key (32 random bytes in base64url): write a new one and restart every process.`,
    { retry: "never", facts: { path } },
  );
}

export function platformToken(key: string, service: OwnProcess, expiresAt: Instant): string {
  const ends = Math.floor(toUnixMs(expiresAt) / 1_000);
  return `${platformTokenPrefix}${service}_${ends}_${macOf(key, service, ends)}`;
}

function macOf(key: string, service: OwnProcess, ends: number): string {
  const mac = createHmac("sha256", Buffer.from(key, "base64url"));
  return mac.update(`portcullis internal ${service} until ${ends}`).digest("hex");
}

/** What a process shows to others: made anew while the one before still holds for ten minutes, so that none runs out on its way. */
export function createPlatformTokens(key: string, clock: Clock): (service: OwnProcess) => string {
  const made = new Map<OwnProcess, { readonly token: string; readonly expiresAt: Instant }>();
  return (service) => {
    const now = clock.now();
    const before = made.get(service);
    const leftMs = before === undefined ? 0 : millisecondsBetween(now, before.expiresAt);
    // More is left than there was when the clock was set back.
    if (before !== undefined && leftMs > renewAtMs && leftMs <= platformTokenMs) return before.token;
    const expiresAt = plusMilliseconds(now, platformTokenMs);
    const token = platformToken(key, service, expiresAt);
    made.set(service, { token, expiresAt });
    return token;
  };
}

/** Whose token this is and when it ends, or undefined when it is nobody's. Whether it has ended is the caller's to judge. */
export function readPlatformToken(key: string, token: string): PlatformTokenFacts | undefined {
  const [, named, digits, shown = ""] = tokenForm.exec(token) ?? [];
  const service = ownProcesses.find((one) => one === named);
  if (service === undefined) return undefined;
  const ends = Number(digits);
  const expected = Buffer.from(macOf(key, service, ends), "latin1");
  if (!timingSafeEqual(expected, Buffer.from(shown, "latin1"))) return undefined;
  return { service, expiresAt: fromUnixMs(ends * 1_000) };
}

/** Between its making and its end, give or take how far the clocks of two machines may be apart. */
export function isPlatformTokenTimely({ expiresAt }: PlatformTokenFacts, now: Instant): boolean {
  const leftMs = millisecondsBetween(now, expiresAt);
  return leftMs > -clockToleranceMs && leftMs <= platformTokenMs + clockToleranceMs;
}

interface PlatformTokenFacts {
  readonly service: OwnProcess;
  readonly expiresAt: Instant;
}
