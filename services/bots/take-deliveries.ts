// What becomes of deliveries: runs, or events of releases and advisories. A delivery and what comes of it are one transaction, so that none is lost and none comes
// to something twice.

import { format, type Instant } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { marked } from "../../contracts/src/text/typed.ts";
import { wantedRuns } from "../../core/bots/wanted-runs.ts";
import type { BotDelivery, BotInstallation, BotRun } from "../../ports/bot-records.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { BotPorts } from "./bot-ports.ts";

const atOnceMax = 50;

/** Answers how many it took. */
export async function takeDeliveries(ports: BotPorts, { appSlug }: BotInstallation): Promise<number> {
  const open = await ports.store.transact("bots.look", ({ bots }) => bots.openDeliveries(atOnceMax));
  for (const delivery of open) {
    await ports.store.transact("bots.take", (unit) => takeOne(unit, delivery, appSlug, ports));
  }
  return open.length;
}

async function takeOne(
  unit: UnitOfWork,
  delivery: BotDelivery,
  slug: string,
  { clock, random }: BotPorts,
): Promise<void> {
  const now = clock.now();
  const known = await unit.bots.delivery(delivery.deliveryId);
  if (known?.status !== "ACCEPTED") return;
  for (const wanted of wantedRuns(delivery, slug)) {
    const run: BotRun = {
      ...wanted,
      runId: random.uuid(),
      deliveryId: delivery.deliveryId,
      repository: delivery.repository,
      status: "QUEUED",
      attempts: 0,
      createdAt: now,
      nextAt: now,
      version: 1,
    };
    await unit.bots.insertRun(run);
  }
  await publish(unit, delivery, now);
  await unit.bots.updateDelivery({ ...delivery, status: "HANDLED", endedAt: now });
}

interface Published {
  readonly release?: {
    readonly tag_name: string;
    readonly name?: string | null;
    readonly html_url: string;
    readonly prerelease?: boolean;
    readonly author?: { readonly login: string } | null;
  };
  readonly repository_advisory?: {
    readonly ghsa_id: string;
    readonly summary?: string | null;
    readonly severity?: string | null;
    readonly html_url: string;
  };
}

/** Texts of strangers: what cannot be seen in them is marked, and lines are one. */
const shown = (text: string | null | undefined, lengthMax: number): string =>
  marked((text ?? "").replace(/[\p{Cc}\u2028\u2029]+/gu, " ")).slice(0, lengthMax);

async function publish({ events }: UnitOfWork, { event, repository, facts }: BotDelivery, now: Instant): Promise<void> {
  const { release, repository_advisory: advisory } = facts as Published;
  const at = format(now);
  if (event === "release" && release !== undefined) {
    await events.publish(subjects.botReleasePublished, {
      repository,
      tag: shown(release.tag_name, 300),
      name: shown(release.name ?? release.tag_name, 300),
      url: shown(release.html_url, 2_000),
      prerelease: release.prerelease ?? false,
      published_by: shown(release.author?.login, 100),
      at,
    });
  }
  if (event === "repository_advisory" && advisory !== undefined) {
    await events.publish(subjects.botAdvisoryPublished, {
      repository,
      ghsa_id: shown(advisory.ghsa_id, 100),
      summary: shown(advisory.summary, 1_000),
      severity: shown(advisory.severity, 20),
      url: shown(advisory.html_url, 2_000),
      at,
    });
  }
}
