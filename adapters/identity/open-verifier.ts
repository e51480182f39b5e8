// Opens what a process needs to know who is calling: the feed of the store, the keys of whoever signs for people, and the platform key.
// A store or issuer that does not answer is no reason not to start: the verifier refuses everybody and says so until it does.
import type { OwnProcess } from "../../contracts/src/platform-services.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Verifier } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Configuration } from "../configuration/schema.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { createPlatformTokens, openPlatformKey } from "./platform-token.ts";
import { openExternalKeys } from "./verifier/external-keys.ts";
import { createIdentityFeed, type IdentityFeed } from "./verifier/identity-feed.ts";
import { createSnapshotReader } from "./verifier/identity-snapshot.ts";
import { embeddedIssuer, externalIssuer, type TokenIssuer } from "./verifier/token-issuer.ts";
import { createTokenUses } from "./verifier/token-uses.ts";
import { createVerifier } from "./verifier/verifier.ts";

interface OpenVerifierOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: PostgresStore;
  readonly secrets: Secrets;
  readonly configuration: Pick<Configuration, "identity" | "secrets">;
}

export interface OpenedVerifier {
  /** Closing it closes all of this. */
  readonly verifier: Verifier;
  /** For whoever changed something in this process: when `refresh` resolves, its own verifier knows. */
  readonly feed: { refresh(): Promise<void> };
  /** What a process of ours shows to another, now: ask for it with every call. */
  platformToken(service: OwnProcess): string;
}

export async function openVerifier(options: OpenVerifierOptions): Promise<OpenedVerifier> {
  const { secrets, random, configuration } = options;
  const platformKey = await openPlatformKey(secrets, configuration.secrets.prefix, random);
  // From here on nothing can fail, so that no loop is left running.
  const feed = createIdentityFeed({ ...options, read: createSnapshotReader(options) });
  const issuer = issuerOf(options, feed);
  const uses = createTokenUses(options);
  await feed.refresh();
  const verifier = createVerifier({ ...options, platformKey, feed, issuer, uses });
  return {
    verifier: {
      ...verifier,
      async close() {
        await uses.close();
        await verifier.close();
      },
    },
    feed: { refresh: () => feed.refresh() },
    platformToken: createPlatformTokens(platformKey, options.clock),
  };
}

function issuerOf(options: OpenVerifierOptions, feed: IdentityFeed): TokenIssuer {
  const { issuer, client_id, audience, roles_claim, name_claim, role_names } = options.configuration.identity;
  if (issuer === undefined) return embeddedIssuer(feed);
  return externalIssuer({
    issuer,
    // The configuration refuses an issuer without a client id; with neither no token would be meant for us.
    audience: audience ?? client_id ?? "",
    ...(audience === undefined && client_id !== undefined ? { authorizedParty: client_id } : {}),
    claims: { rolesClaim: roles_claim, nameClaim: name_claim, roleNames: role_names },
    keys: openExternalKeys({ ...options, issuer }),
  });
}
