// The paper funds' limits are put in once, with their hash and their event, and nobody's own are touched.
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { riskEnvelope } from "../../contracts/src/records/envelope.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { envelopeHashText } from "../../core/envelope/envelope.ts";
import { testSettings } from "../../testkit/virtual/memory-platform.ts";
import { serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { paperEnvelopes } from "../shared/paper-seeds.ts";
import { seedEnvelopes } from "./seed-envelopes.ts";

it("puts each in once and says so", async () => {
  const fixture = serviceFixture(1);
  await seedEnvelopes(fixture.portsOf("riskengine"));
  await seedEnvelopes(fixture.portsOf("riskengine"));
  const reported = fixture.reported(subjects.envelopeUpdated);
  expect(reported.map(({ fund_id, version }) => [fund_id, version])).toEqual([
    ["alpha", 1],
    ["beta", 1],
    ["gamma", 1],
    ["drill", 1],
  ]);
  const stored = await fixture.portsOf("riskengine").riskStore.envelopes();
  expect(stored).toHaveLength(4);
  for (const envelope of stored) {
    expect(riskEnvelope.parse(envelope)).toEqual(envelope);
    expect(reported).toContainEqual(envelope);
    expect(envelope.hash).toBe(createHash("sha256").update(envelopeHashText(envelope)).digest("hex"));
    expect(envelope).toMatchObject({ updated_by: "service:paper-platform", reason: "paper platform" });
  }
  await fixture.close();
});

it("leaves a fund's own limits as they are, and a platform that is not paper empty", async () => {
  const fixture = serviceFixture(2);
  const [alpha] = paperEnvelopes;
  if (alpha === undefined) throw new Error("alpha");
  const own = { ...alpha, version: 7, max_notional: 1 };
  const ports = fixture.portsOf("riskengine");
  await ports.store.transact("own", (unit) => unit.risk.putEnvelope(own));
  await seedEnvelopes({ ...ports, settings: { ...testSettings, seedPaperPlatform: false } });
  expect(await ports.riskStore.envelopes()).toEqual([own]);
  await seedEnvelopes(ports);
  expect(fixture.reported(subjects.envelopeUpdated).map(({ fund_id }) => fund_id)).toEqual(["beta", "gamma", "drill"]);
  expect((await ports.riskStore.envelopes()).find(({ fund_id }) => fund_id === "alpha")).toEqual(own);
  await fixture.close();
});
