// How our own processes recognise each other: a token per service, derived from one key in the secrets store. There is nothing to
// store and nothing to ask, so a process can be asked for its health while the database is away; what else each may ask of the others is in
// the table of authority.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../../contracts/src/fault.ts";
import { type PlatformService, platformServices } from "../../contracts/src/platform-services.ts";
import type { Random } from "../../ports/random.ts";
import type { Secrets } from "../../ports/secrets.ts";
import { findOrMakeSecret } from "./shared-secret.ts";

export const platformTokenPrefix = "pci_";
const keyBytes = 32;
const keyForm = /^[A-Za-z0-9_-]{43}$/;
const tokenForm = /^pci_([a-z]{1,32})_([0-9a-f]{64})$/;

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

export function platformToken(key: string, service: PlatformService): string {
  const mac = createHmac("sha256", Buffer.from(key, "base64url")).update(`portcullis internal ${service}`);
  return `${platformTokenPrefix}${service}_${mac.digest("hex")}`;
}

/** Whose token this is, or undefined when it is nobody's. */
export function verifyPlatformToken(key: string, token: string): PlatformService | undefined {
  const named = tokenForm.exec(token)?.[1];
  const service = platformServices.find((one) => one === named);
  if (service === undefined) return undefined;
  const expected = Buffer.from(platformToken(key, service), "latin1");
  const shown = Buffer.from(token, "latin1");
  return expected.length === shown.length && timingSafeEqual(expected, shown) ? service : undefined;
}
