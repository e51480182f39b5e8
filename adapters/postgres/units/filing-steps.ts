// Steps of orders for a regulator, and since when funds are enabled, in a transaction.
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { FundFilings, LifeStep, RegimeName } from "../../../contracts/src/records/filing.ts";
import type { FilingStepRecords, FilingSwitch } from "../../../ports/filing-steps.ts";
import { columnOfText, textOfColumn } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

interface StepRow {
  readonly fund_id: string;
  readonly order_id: string;
  readonly parent_order_id: string | null;
  readonly source: string;
  readonly content: LifeStep;
}

interface SwitchRow {
  readonly regime: RegimeName;
  readonly fund_id: string;
  readonly at_us: string;
  readonly enabled: boolean;
}

interface SettingsRow {
  readonly fund_id: string;
  readonly at_us: string;
  readonly content: FundFilings;
}

export function filingStepRecords(sql: Sql): FilingStepRecords {
  return {
    async keep({ fundId, orderId, parentOrderId, source, step }) {
      const parent = parentOrderId === undefined ? null : columnOfText(parentOrderId);
      const [event, fund, order, by] = [step.id, fundId, orderId, source].map(columnOfText);
      await sql.write({
        name: "filing_step_keep",
        text: `insert into filing_step (event_id, fund_id, order_id, parent_order_id, at_us, source, content)
               values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
        values: [event, fund, order, parent, step.at, by, JSON.stringify(step)],
      });
    },
    async ofOrder(fundId, orderId, countMax) {
      const found = await sql.read({
        name: "filing_steps",
        text: `select fund_id, order_id, parent_order_id, source, content from filing_step
               where fund_id = $1 and order_id = $2 order by at_us, event_id limit $3`,
        values: [columnOfText(fundId), columnOfText(orderId), countMax],
      });
      return (found.rows as readonly StepRow[]).map((row) => ({
        fundId: textOfColumn(row.fund_id),
        orderId: textOfColumn(row.order_id),
        ...(row.parent_order_id !== null && { parentOrderId: textOfColumn(row.parent_order_id) }),
        source: textOfColumn(row.source),
        step: row.content,
      }));
    },
    async partsOf(fundId, orderId, countMax) {
      const found = await sql.read({
        name: "filing_parts",
        text: "select distinct order_id from filing_step where fund_id = $1 and parent_order_id = $2 order by order_id limit $3",
        values: [columnOfText(fundId), columnOfText(orderId), countMax],
      });
      return (found.rows as readonly Pick<StepRow, "order_id">[]).map(({ order_id }) => textOfColumn(order_id));
    },
    async switchTo({ regime, fundId, isEnabled, at }) {
      await sql.write({
        name: "filing_switch_to",
        text: "insert into filing_switch (regime, fund_id, at_us, enabled) values ($1, $2, $3, $4)",
        values: [regime, columnOfText(fundId), at, isEnabled],
      });
    },
    async switchesOf(regime, fundId, countMax) {
      const found = await sql.read({
        name: "filing_switches_of",
        text: `select regime, fund_id, at_us, enabled from filing_switch
               where regime = $1 and fund_id = $2 order by at_us desc limit $3`,
        values: [regime, columnOfText(fundId), countMax],
      });
      return (found.rows as readonly SwitchRow[]).map(switchOf).reverse();
    },
    async keepSettings({ fundId, at, settings }) {
      await sql.write({
        name: "filing_settings_keep",
        text: "insert into filing_settings (fund_id, at_us, content) values ($1, $2, $3)",
        values: [columnOfText(fundId), at, JSON.stringify(settings)],
      });
    },
    async settingsOf(fundId, countMax) {
      const found = await sql.read({
        name: "filing_settings_of",
        text: "select fund_id, at_us, content from filing_settings where fund_id = $1 order by at_us desc limit $2",
        values: [columnOfText(fundId), countMax],
      });
      return (found.rows as readonly SettingsRow[])
        .map((row) => ({
          fundId: textOfColumn(row.fund_id),
          at: fromMicroseconds(Number(row.at_us)),
          settings: row.content,
        }))
        .reverse();
    },
    async switches() {
      const found = await sql.read({
        name: "filing_switches",
        text: `select distinct on (regime, fund_id) regime, fund_id, at_us, enabled from filing_switch
               order by regime, fund_id, at_us desc`,
        values: [],
      });
      return (found.rows as readonly SwitchRow[]).map(switchOf);
    },
  };
}

function switchOf({ regime, fund_id, at_us, enabled }: SwitchRow): FilingSwitch {
  return { regime, fundId: textOfColumn(fund_id), isEnabled: enabled, at: fromMicroseconds(Number(at_us)) };
}
