// Puts the limits of the paper funds and of the fund for drills in, each once: a fund that has an envelope of any version keeps it.
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { envelopeHashText } from "../../core/envelope/envelope.ts";
import { drillEnvelope } from "../shared/drill-seeds.ts";
import { paperActor, paperEnvelopes, paperReason } from "../shared/paper-seeds.ts";
import type { ServicePorts } from "../shared/service.ts";

type SeedEnvelopesPorts = Pick<ServicePorts, "store" | "clock" | "sha256" | "settings" | "riskStore">;

export async function seedEnvelopes(ports: SeedEnvelopesPorts): Promise<void> {
  if (!ports.settings.seedPaperPlatform) return;
  const there = new Set((await ports.riskStore.envelopes()).map(({ fund_id }) => fund_id));
  const missing = [...paperEnvelopes, drillEnvelope].filter(({ fund_id }) => !there.has(fund_id));
  if (missing.length === 0) return;
  await ports.store.transact("riskengine.seed", async (unit) => {
    for (const limits of missing) {
      if ((await unit.risk.lockEnvelope(limits.fund_id)) !== undefined) continue;
      const updated_at = format(ports.clock.now());
      const record = { ...limits, updated_by: paperActor, updated_at, reason: paperReason };
      const envelope = { ...record, hash: hexOf(ports.sha256(envelopeHashText(record))) };
      await unit.risk.putEnvelope(envelope);
      await unit.events.publish(subjects.envelopeUpdated, envelope);
    }
  });
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
