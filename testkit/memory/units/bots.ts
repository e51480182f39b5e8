// What the repository bot remembers, in a transaction of the memory store.
import type {
  BotDelivery,
  BotInstallation,
  BotIntent,
  BotPause,
  BotRecords,
  BotRedelivery,
  BotRun,
  BotSpend,
  BotThread,
} from "../../../ports/bot-records.ts";
import type { RecordTools } from "../layered-map.ts";

interface Numbered<Content> {
  readonly number: number;
  readonly content: Content;
}

export interface BotTables {
  readonly installations: Map<string, Numbered<BotInstallation>>;
  readonly pauses: Map<string, Numbered<BotPause>>;
  readonly deliveries: Map<string, Numbered<BotDelivery>>;
  readonly runs: Map<string, Numbered<BotRun>>;
  readonly intents: Map<string, BotIntent & { readonly runId: string }>;
  readonly threads: Map<string, BotThread>;
  readonly days: Map<string, number>;
  readonly spends: Map<string, BotSpend>;
  readonly redeliveries: Map<string, BotRedelivery>;
}

export function botTables(): BotTables {
  return {
    installations: new Map(),
    pauses: new Map(),
    deliveries: new Map(),
    runs: new Map(),
    intents: new Map(),
    threads: new Map(),
    days: new Map(),
    spends: new Map(),
    redeliveries: new Map(),
  };
}

interface Filtered<Content> {
  filter(fits: (value: Numbered<Content>) => boolean): Numbered<Content>[];
}

const inOrder = <Content>(table: Filtered<Content>): Numbered<Content>[] =>
  table.filter(() => true).sort((one, other) => one.number - other.number);
const nextNumber = <Content>(table: Filtered<Content>): number => (inOrder(table).at(-1)?.number ?? 0) + 1;
const contentOf = <Content>({ content }: Numbered<Content>): Content => content;

export function botChanges(tables: BotTables, tools: RecordTools): BotRecords {
  return { ...standing(tables, tools), ...deliveries(tables, tools), ...runs(tables, tools), ...work(tables, tools) };
}

function standing(
  tables: BotTables,
  { inTurn, lock, table }: RecordTools,
): Pick<BotRecords, "installation" | "addInstallation" | "pauses" | "addPause"> {
  const installations = table("bot_installation", tables.installations);
  const pauses = table("bot_pause", tables.pauses);
  return {
    installation: () => inTurn(async () => inOrder(installations).at(-1)?.content),
    addInstallation: (content) =>
      inTurn(async () => {
        await lock("bot_installation");
        const number = nextNumber(installations);
        installations.set(String(number), { number, content });
      }),
    pauses: () =>
      inTurn(async () => {
        const newest = new Map(inOrder(pauses).map(({ content }) => [content.repository, content]));
        return [...newest.values()].filter(({ isPaused }) => isPaused);
      }),
    addPause: (content) =>
      inTurn(async () => {
        await lock("bot_pause");
        const number = nextNumber(pauses);
        pauses.set(String(number), { number, content });
      }),
  };
}

function deliveries(
  tables: BotTables,
  { inTurn, lock, table }: RecordTools,
): Pick<
  BotRecords,
  "insertDelivery" | "delivery" | "openDeliveries" | "updateDelivery" | "deliveries" | "forgetDeliveries"
> {
  const rows = table("bot_delivery", tables.deliveries);
  return {
    insertDelivery: (content) =>
      inTurn(async () => {
        await lock("bot_delivery");
        const { deliveryId, bodySha256 } = content;
        if (rows.has(deliveryId) || rows.filter((one) => one.content.bodySha256 === bodySha256).length > 0)
          return false;
        rows.set(deliveryId, { number: nextNumber(rows), content });
        return true;
      }),
    delivery: (deliveryId) => inTurn(async () => rows.get(deliveryId)?.content),
    openDeliveries: (countMax) =>
      inTurn(async () =>
        inOrder(rows)
          .map(contentOf)
          .filter(({ status }) => status === "ACCEPTED")
          .slice(0, countMax),
      ),
    updateDelivery: (content) =>
      inTurn(async () => {
        await lock(`bot_delivery ${content.deliveryId}`);
        const before = rows.get(content.deliveryId);
        if (before !== undefined) rows.set(content.deliveryId, { ...before, content });
      }),
    deliveries: ({ countMax, after }) =>
      inTurn(async () => {
        const named = after === undefined ? Number.POSITIVE_INFINITY : (rows.get(after)?.number ?? 0);
        const older = inOrder(rows).filter(({ number }) => number < named);
        return older.reverse().slice(0, countMax).map(contentOf);
      }),
    forgetDeliveries: (before, countMax) =>
      inTurn(async () => {
        const gone = inOrder(rows)
          .map(contentOf)
          .filter(({ receivedAt, status }) => receivedAt < before && status !== "ACCEPTED")
          .slice(0, countMax);
        for (const { deliveryId } of gone) rows.delete(deliveryId);
        return gone.length;
      }),
  };
}

function runs(
  tables: BotTables,
  { inTurn, lock, table }: RecordTools,
): Pick<BotRecords, "insertRun" | "updateRun" | "run" | "openRuns" | "runs"> {
  const rows = table("bot_run", tables.runs);
  return {
    insertRun: (content) =>
      inTurn(async () => {
        await lock("bot_run");
        if (rows.has(content.runId) || rows.filter((one) => one.content.key === content.key).length > 0) return false;
        rows.set(content.runId, { number: nextNumber(rows), content });
        return true;
      }),
    updateRun: (run) =>
      inTurn(async () => {
        await lock(`bot_run ${run.runId}`);
        const before = rows.get(run.runId);
        if (before?.content.version !== run.version) return undefined;
        const content: BotRun = { ...run, version: run.version + 1 };
        rows.set(run.runId, { ...before, content });
        return content;
      }),
    run: (runId) => inTurn(async () => rows.get(runId)?.content),
    openRuns: (countMax) =>
      inTurn(async () =>
        inOrder(rows)
          .map(contentOf)
          .filter(({ status }) => status === "QUEUED" || status === "RUNNING")
          .slice(0, countMax),
      ),
    runs: ({ countMax, repository, status, after }) =>
      inTurn(async () => {
        const named = after === undefined ? Number.POSITIVE_INFINITY : (rows.get(after)?.number ?? 0);
        return inOrder(rows)
          .filter(({ number }) => number < named)
          .reverse()
          .map(contentOf)
          .filter((one) => repository === undefined || one.repository === repository)
          .filter((one) => status === undefined || one.status === status)
          .slice(0, countMax);
      }),
  };
}

function work(
  tables: BotTables,
  { inTurn, lock, table }: RecordTools,
): Omit<
  BotRecords,
  keyof ReturnType<typeof standing> | keyof ReturnType<typeof deliveries> | keyof ReturnType<typeof runs>
> {
  const intents = table("bot_intent", tables.intents);
  const threads = table("bot_thread", tables.threads);
  const days = table("bot_day", tables.days);
  const spends = table("bot_spend", tables.spends);
  const redeliveries = table("bot_redelivery", tables.redeliveries);
  return {
    intents: (runId) =>
      inTurn(async () =>
        intents
          .filter((one) => one.runId === runId)
          .sort((one, other) => (one.name < other.name ? -1 : 1))
          .map(({ runId: _, ...intent }) => intent),
      ),
    putIntent: (runId, intent) =>
      inTurn(async () => {
        await lock(`bot_intent ${runId} ${intent.name}`);
        intents.set(`${runId} ${intent.name}`, { ...intent, runId });
      }),
    thread: (repository, number) => inTurn(async () => threads.get(`${repository} ${number}`)),
    putThread: (thread) =>
      inTurn(async () => {
        await lock(`bot_thread ${thread.repository} ${thread.number}`);
        threads.set(`${thread.repository} ${thread.number}`, thread);
      }),
    lockDay: (day) =>
      inTurn(async () => {
        await lock(`bot_day ${day}`);
        days.set(day, (days.get(day) ?? 0) + 1);
      }),
    spends: (day) => inTurn(async () => spends.filter((one) => one.day === day)),
    spend: (runId) => inTurn(async () => spends.get(runId)),
    putSpend: (spend) =>
      inTurn(async () => {
        await lock(`bot_spend ${spend.runId}`);
        spends.set(spend.runId, spend);
      }),
    redelivery: (guid) => inTurn(async () => redeliveries.get(guid)),
    putRedelivery: (redelivery) =>
      inTurn(async () => {
        await lock(`bot_redelivery ${redelivery.guid}`);
        redeliveries.set(redelivery.guid, redelivery);
      }),
    failedDeliveries: () => inTurn(async () => redeliveries.filter(({ guid }) => !tables.deliveries.has(guid))),
    forgetRedeliveries: (before) =>
      inTurn(async () => {
        const gone = redeliveries.filter(({ at }) => at < before);
        for (const { guid } of gone) redeliveries.delete(guid);
        return gone.length;
      }),
  };
}
