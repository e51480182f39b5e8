// The verifier under the suite of its port, with either kind of issuer.
import { expect, it } from "vitest";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import { verifierConformance } from "../../../testkit/conformance/verifier.ts";
import { noMetrics } from "../../../testkit/no-telemetry.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { embeddedFixture, externalFixture } from "../../../testkit/verifier-fixtures.ts";
import { systemClock } from "../../system/clock.ts";
import { hashOf } from "../sealing.ts";
import { serviceTokenIdOf } from "../service-token-text.ts";
import type { IdentityFeed } from "./identity-feed.ts";
import type { IdentitySnapshot, KnownServiceToken } from "./identity-snapshot.ts";
import { unavailable } from "./refusals.ts";
import { embeddedIssuer } from "./token-issuer.ts";
import { createVerifier } from "./verifier.ts";

const empty: IdentitySnapshot = {
  epoch: "0",
  readAt: fromUnixMs(0),
  issuer: undefined,
  keys: new Map(),
  revokedTokens: new Set(),
  revokedSessions: new Set(),
  revokedSubjects: new Map(),
  serviceTokens: new Map(),
};

verifierConformance("embedded provider", embeddedFixture);
verifierConformance("issuer of somebody else's", externalFixture);

it("looks once more before it refuses anybody because what it knows is old, and refuses when that does not help", async () => {
  const text = `pcs_${"a".repeat(24)}_${"b".repeat(43)}`;
  const id = serviceTokenIdOf(text) ?? "";
  const known: KnownServiceToken = {
    id,
    name: "acme",
    hash: Buffer.from(hashOf(text), "hex"),
    operations: ["GetEnvelope"],
    isRevoked: false,
    createdAt: fromUnixMs(0),
    expiresAt: fromUnixMs(4_102_444_800_000),
  };
  const snapshot = { ...empty, serviceTokens: new Map([[id, known]]) };
  let isOld = true;
  let helps = true;
  const feed: IdentityFeed = {
    current: () => {
      if (isOld) throw unavailable("the store does not answer", "store");
      return snapshot;
    },
    refresh: async () => undefined,
    refreshOnDemand: async () => undefined,
    refreshWithin: async () => {
      isOld = !helps;
    },
    health: () => (isOld ? { status: "failing" } : { status: "ok" }),
    close: async () => undefined,
  };
  const clock = systemClock();
  const verifier = createVerifier({
    clock,
    log: quietLog,
    metrics: noMetrics,
    platformKey: "key",
    feed,
    issuer: embeddedIssuer(feed),
  });
  expect(await verifier.verify(text)).toMatchObject({ actor: "service:acme" });
  [isOld, helps] = [true, false];
  await expect(verifier.verify(text)).rejects.toMatchObject({ code: "IDENTITY_UNAVAILABLE" });
  await verifier.close();
});
