// The token of a call: the environment's as it is, or the profile's, renewed when it is about to run out. What is renewed is on disk before
// it is used, and only one ctl at a time renews (profile-lock.ts).
import type { Clock } from "../../../ports/clock.ts";
import type { Timers } from "../../../ports/timers.ts";
import { loginRefusal, Refusal } from "../failure.ts";
import type { Settings } from "../settings.ts";
import { leftMs } from "../text/text.ts";
import { type Profile, readProfile, writeProfile } from "./profile.ts";
import { lockPathOf, underLock } from "./profile-lock.ts";

interface BearerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** A token with less life than this is renewed first, so that it does not run out on the way. */
const renewBelowMs = 30_000;

export async function bearerOf(settings: Settings, ports: BearerPorts): Promise<string> {
  if (settings.token !== undefined) return settings.token;
  const profile = ownProfile(settings);
  if (leftOf(profile, ports) >= renewBelowMs) return profile.token;
  if (profile.refresh_token === undefined) return whileItLasts(settings, profile, ports);
  return underLock(lockPathOf(settings.profilePath), ports, () => renewed(settings, ports));
}

/**
 * For what runs on for hours: the profile is read from disk for each call, so that a renewal by another ctl is used and a logout counts. Who logged in under
 * the profile meanwhile is another person, whose login is not taken: what is shown and done would have the wrong name.
 */
export function lastingBearer(settings: Settings, ports: BearerPorts): () => Promise<string> {
  const name = settings.stored?.name;
  return async () => {
    if (settings.token !== undefined) return settings.token;
    const stored = readProfile(settings.profilePath);
    if (stored !== undefined && name !== undefined && stored.name !== name) {
      throw loginRefusal(`The profile "${settings.profile.value}" is now a login of ${stored.name}, not of ${name}.`);
    }
    return bearerOf({ ...settings, stored, damaged: undefined }, ports);
  };
}

/** The profile, if it may be used for this server at all: a token goes to the server that it was got from and to no other. */
export function ownProfile(settings: Settings): Profile {
  const { stored, damaged, server, profile } = settings;
  if (damaged !== undefined) throw damaged;
  if (stored === undefined) throw loginRefusal(`Nobody is logged in under the profile "${profile.value}".`);
  if (stored.server !== server.value) {
    throw loginRefusal(
      `The profile "${profile.value}" is a login at ${stored.server}, and ${server.from} names ${server.value}; its token is not sent there.`,
      `Log in there under another name: \`ctl auth login --server ${server.value} --profile NAME\`.`,
    );
  }
  return stored;
}

async function renewed(settings: Settings, ports: BearerPorts): Promise<string> {
  // Whoever held the lock before may have renewed it, logged out or logged in elsewhere.
  const stored = readProfile(settings.profilePath);
  const profile = ownProfile({ ...settings, stored, damaged: undefined });
  if (leftOf(profile, ports) >= renewBelowMs) return profile.token;
  const { renew } = await import("./issuer.ts");
  try {
    const tokens = await renew(profile, profile, ports.clock.now());
    writeProfile(settings.profilePath, { ...profile, ...tokens });
    return tokens.token;
  } catch (error) {
    // An issuer that is away for a moment does not take away what is still good.
    if (error instanceof Refusal && error.code === "IDENTITY_UNAVAILABLE" && leftOf(profile, ports) > 0)
      return profile.token;
    throw error;
  }
}

function whileItLasts(settings: Settings, profile: Profile, ports: BearerPorts): string {
  if (leftOf(profile, ports) > 0) return profile.token;
  throw loginRefusal(`The login of the profile "${settings.profile.value}" ran out at ${profile.expires_at}.`);
}

function leftOf(profile: Profile, { clock }: BearerPorts): number {
  return leftMs(profile.expires_at, clock.now());
}
