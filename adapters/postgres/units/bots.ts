// What the repository bot remembers, in a transaction.
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
import { columnOfText } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface Row<Content> {
  readonly content: Content;
}

export function botRecords(sql: Sql): BotRecords {
  return { ...standing(sql), ...deliveries(sql), ...runs(sql), ...work(sql), ...spending(sql) };
}

async function contents<Content>(sql: Sql, name: string, text: string, values: unknown[] = []) {
  const found = await sql.read({ name, text, values });
  return (found.rows as readonly Row<Content>[]).map(({ content }) => content);
}

function standing(sql: Sql): Pick<BotRecords, "installation" | "addInstallation" | "pauses" | "addPause"> {
  return {
    async installation() {
      const text = "select content from bot_installation order by number desc limit 1";
      return (await contents<BotInstallation>(sql, "bot_installation_newest", text))[0];
    },
    async addInstallation(installation) {
      await sql.write({
        name: "bot_installation_add",
        text: "insert into bot_installation (content) values ($1)",
        values: [JSON.stringify(installation)],
      });
    },
    async pauses() {
      const text = "select distinct on (repository) content from bot_pause order by repository, number desc";
      return (await contents<BotPause>(sql, "bot_pause_newest", text)).filter(({ isPaused }) => isPaused);
    },
    async addPause(pause) {
      await sql.write({
        name: "bot_pause_add",
        text: "insert into bot_pause (repository, content) values ($1, $2)",
        values: [columnOfText(pause.repository), JSON.stringify(pause)],
      });
    },
  };
}

function deliveries(
  sql: Sql,
): Pick<
  BotRecords,
  "insertDelivery" | "delivery" | "openDeliveries" | "updateDelivery" | "deliveries" | "forgetDeliveries"
> {
  return {
    async insertDelivery(delivery) {
      const inserted = await sql.write({
        name: "bot_delivery_insert",
        text: `insert into bot_delivery (delivery_id, body_sha256, received_us, status, content) values ($1, $2, $3, $4, $5)
               on conflict do nothing`,
        values: [
          columnOfText(delivery.deliveryId),
          delivery.bodySha256,
          delivery.receivedAt,
          delivery.status,
          JSON.stringify(delivery),
        ],
      });
      return inserted.rowCount === 1;
    },
    async delivery(deliveryId) {
      const text = "select content from bot_delivery where delivery_id = $1";
      return (await contents<BotDelivery>(sql, "bot_delivery_read", text, [columnOfText(deliveryId)]))[0];
    },
    openDeliveries: (countMax) =>
      contents(
        sql,
        "bot_delivery_open",
        "select content from bot_delivery where status = 'ACCEPTED' order by number limit $1",
        [countMax],
      ),
    async updateDelivery(delivery) {
      await sql.write({
        name: "bot_delivery_update",
        text: "update bot_delivery set status = $2, content = $3 where delivery_id = $1",
        values: [columnOfText(delivery.deliveryId), delivery.status, JSON.stringify(delivery)],
      });
    },
    deliveries: ({ countMax, after }) =>
      contents(
        sql,
        "bot_delivery_list",
        `select content from bot_delivery
         where $1::text is null or number < (select number from bot_delivery where delivery_id = $1) order by number desc limit $2`,
        [after === undefined ? null : columnOfText(after), countMax],
      ),
    async forgetDeliveries(before, countMax) {
      const gone = await sql.write({
        name: "bot_delivery_forget",
        text: `delete from bot_delivery where delivery_id in
                 (select delivery_id from bot_delivery where received_us < $1 and status <> 'ACCEPTED' order by received_us limit $2)`,
        values: [before, countMax],
      });
      return gone.rowCount ?? 0;
    },
  };
}

function runs(sql: Sql): Pick<BotRecords, "insertRun" | "updateRun" | "run" | "openRuns" | "runs"> {
  return {
    async insertRun(run) {
      const inserted = await sql.write({
        name: "bot_run_insert",
        text: `insert into bot_run (run_id, key, repository, status, version, content) values ($1, $2, $3, $4, $5, $6)
               on conflict do nothing`,
        values: [
          columnOfText(run.runId),
          columnOfText(run.key),
          columnOfText(run.repository),
          run.status,
          run.version,
          JSON.stringify(run),
        ],
      });
      return inserted.rowCount === 1;
    },
    async updateRun(run) {
      const next: BotRun = { ...run, version: run.version + 1 };
      const updated = await sql.write({
        name: "bot_run_update",
        text: "update bot_run set status = $3, version = $4, content = $5 where run_id = $1 and version = $2",
        values: [columnOfText(run.runId), run.version, next.status, next.version, JSON.stringify(next)],
      });
      return updated.rowCount === 1 ? next : undefined;
    },
    async run(runId) {
      const text = "select content from bot_run where run_id = $1";
      return (await contents<BotRun>(sql, "bot_run_read", text, [columnOfText(runId)]))[0];
    },
    openRuns: (countMax) =>
      contents(
        sql,
        "bot_run_open",
        "select content from bot_run where status in ('QUEUED', 'RUNNING') order by number limit $1",
        [countMax],
      ),
    runs: ({ countMax, repository, status, after }) =>
      contents(
        sql,
        "bot_run_list",
        `select content from bot_run where ($1::text is null or repository = $1) and ($2::text is null or status = $2)
           and ($3::text is null or number < (select number from bot_run where run_id = $3)) order by number desc limit $4`,
        [
          repository === undefined ? null : columnOfText(repository),
          status ?? null,
          after === undefined ? null : columnOfText(after),
          countMax,
        ],
      ),
  };
}

function work(sql: Sql): Pick<BotRecords, "intents" | "putIntent" | "thread" | "putThread"> {
  return {
    intents: (runId) =>
      contents<BotIntent>(sql, "bot_intent_list", "select content from bot_intent where run_id = $1 order by name", [
        columnOfText(runId),
      ]),
    async putIntent(runId, intent) {
      await sql.write({
        name: "bot_intent_put",
        text: `insert into bot_intent (run_id, name, content) values ($1, $2, $3)
               on conflict (run_id, name) do update set content = excluded.content`,
        values: [columnOfText(runId), columnOfText(intent.name), JSON.stringify(intent)],
      });
    },
    async thread(repository, number) {
      const text = "select content from bot_thread where repository = $1 and number = $2";
      return (await contents<BotThread>(sql, "bot_thread_read", text, [columnOfText(repository), number]))[0];
    },
    async putThread(thread) {
      await sql.write({
        name: "bot_thread_put",
        text: `insert into bot_thread (repository, number, content) values ($1, $2, $3)
               on conflict (repository, number) do update set content = excluded.content`,
        values: [columnOfText(thread.repository), thread.number, JSON.stringify(thread)],
      });
    },
  };
}

function spending(
  sql: Sql,
): Pick<
  BotRecords,
  | "lockDay"
  | "spends"
  | "spend"
  | "putSpend"
  | "redelivery"
  | "putRedelivery"
  | "failedDeliveries"
  | "forgetRedeliveries"
> {
  return {
    async lockDay(day) {
      await sql.write({
        name: "bot_day_lock",
        text: "insert into bot_day (day, uses) values ($1, 1) on conflict (day) do update set uses = bot_day.uses + 1",
        values: [day],
      });
    },
    spends: (day) =>
      contents<BotSpend>(sql, "bot_spend_list", "select content from bot_spend where day = $1 order by run_id", [day]),
    async spend(runId) {
      const text = "select content from bot_spend where run_id = $1";
      return (await contents<BotSpend>(sql, "bot_spend_read", text, [columnOfText(runId)]))[0];
    },
    async putSpend(spend) {
      await sql.write({
        name: "bot_spend_put",
        text: `insert into bot_spend (run_id, day, content) values ($1, $2, $3)
               on conflict (run_id) do update set content = excluded.content`,
        values: [columnOfText(spend.runId), spend.day, JSON.stringify(spend)],
      });
    },
    async redelivery(guid) {
      const text = "select content from bot_redelivery where guid = $1";
      return (await contents<BotRedelivery>(sql, "bot_redelivery_read", text, [columnOfText(guid)]))[0];
    },
    async putRedelivery(redelivery) {
      await sql.write({
        name: "bot_redelivery_put",
        text: `insert into bot_redelivery (guid, at_us, content) values ($1, $2, $3)
               on conflict (guid) do update set at_us = excluded.at_us, content = excluded.content`,
        values: [columnOfText(redelivery.guid), redelivery.at, JSON.stringify(redelivery)],
      });
    },
    failedDeliveries: () =>
      contents(
        sql,
        "bot_redelivery_open",
        `select content from bot_redelivery as failed
         where not exists (select 1 from bot_delivery as came where came.delivery_id = failed.guid) order by guid limit 1000`,
      ),
    async forgetRedeliveries(before) {
      const gone = await sql.write({
        name: "bot_redelivery_forget",
        text: "delete from bot_redelivery where at_us < $1",
        values: [before],
      });
      return gone.rowCount ?? 0;
    },
  };
}
