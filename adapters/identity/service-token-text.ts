// What a machine's token looks like: `pcs_`, its id, so that it can be found, and 256 random bits.
import type { Random } from "../../ports/random.ts";

export const serviceTokenPrefix = "pcs_";
/** Its one group is the id. */
export const serviceTokenForm = /^pcs_([0-9a-f]{24})_[A-Za-z0-9_-]{43}$/;
const idBytes = 12;
const secretBytes = 32;

export function newServiceToken(random: Random): { readonly id: string; readonly token: string } {
  const id = Buffer.from(random.bytes(idBytes)).toString("hex");
  return { id, token: `${serviceTokenPrefix}${id}_${Buffer.from(random.bytes(secretBytes)).toString("base64url")}` };
}

/** The id that a token names; undefined when it is none. */
export function serviceTokenIdOf(token: string): string | undefined {
  return serviceTokenForm.exec(token)?.[1];
}
