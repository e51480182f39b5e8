// Deliveries that failed at GitHub, asked for again: GitHub does not send them again by itself. Three days back, a hundred a sweep, each at most three times; one
// that came since, or that we have, is done.
import { type Instant, plusMilliseconds, tryParse } from "../../contracts/src/instant.ts";
import type { BotInstallation } from "../../ports/bot-records.ts";
import type { BotPorts, HookDeliveries, HookDelivery } from "./bot-ports.ts";

const backMs = 3 * 86_400_000;
const askedMax = 100;
const pagesMax = 50;
const timesMax = 3;

/** Answers how many were asked for. */
export async function sweep(ports: BotPorts, installation: BotInstallation, hook: HookDeliveries): Promise<number> {
  const since = plusMilliseconds(ports.clock.now(), -backMs);
  const rows = await recent(hook, since);
  const done = new Set(rows.filter(({ statusCode }) => statusCode >= 200 && statusCode < 300).map(({ guid }) => guid));
  const failed = new Map<string, HookDelivery>();
  for (const row of rows) {
    if (!done.has(row.guid) && !failed.has(row.guid) && isWorthAsking(row, installation)) failed.set(row.guid, row);
  }
  let asked = 0;
  for (const row of failed.values()) {
    if (asked >= askedMax) break;
    if (await mayAsk(ports, row.guid)) {
      await hook.redeliver(row.id);
      asked += 1;
    }
  }
  await ports.store.transact("bots.forget", ({ bots }) => bots.forgetRedeliveries(since));
  return asked;
}

/** Newest first, as GitHub lists them. */
async function recent(hook: HookDeliveries, since: Instant): Promise<readonly HookDelivery[]> {
  const rows: HookDelivery[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const { rows: more, next } = await hook.deliveries(cursor);
    const young = more.filter(({ deliveredAt }) => (tryParse(deliveredAt) ?? since) >= since);
    rows.push(...young);
    if (next === undefined || young.length < more.length) break;
    cursor = next;
  }
  return rows;
}

/** No answer, an answer that we were in trouble, or a signature that a change of secrets made wrong. */
function isWorthAsking({ statusCode, deliveredAt }: HookDelivery, { at }: BotInstallation): boolean {
  if (statusCode === 0 || statusCode >= 500) return true;
  return statusCode === 401 && (tryParse(deliveredAt) ?? at) >= at;
}

/** Counted before it is asked: one that died in the middle counts. */
function mayAsk({ store, clock }: BotPorts, guid: string): Promise<boolean> {
  return store.transact("bots.sweep", async ({ bots }) => {
    if ((await bots.delivery(guid)) !== undefined) return false;
    const asked = (await bots.redelivery(guid))?.asked ?? 0;
    if (asked >= timesMax) return false;
    await bots.putRedelivery({ guid, asked: asked + 1, at: clock.now() });
    return true;
  });
}
