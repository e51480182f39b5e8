// What a fund's books were made of at a moment of the past: what stood then, the books that were kept before it, and the entries of the journal since.
import type pg from "pg";
import { fromMicroseconds, type Instant } from "../../../contracts/src/instant.ts";
import type { Baseline } from "../../../contracts/src/losses.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { NewRestriction } from "../../../contracts/src/records/restriction.ts";
import type { ReplayQueries, Standing } from "../../../ports/replay-queries.ts";
import { referenceOf } from "../../records/reference-contents.ts";
import { fromStored } from "../../records/stored-decimals.ts";
import { columnOfText } from "../exact-text.ts";
import { clockSlackUs, entryColumns, type RawEntry, rowOf } from "../risk/risk-reads.ts";
import { storableId } from "../storable-text.ts";
import { navColumns, navOf } from "./ledger-rows.ts";

type Ask = (text: string, values: readonly unknown[]) => Promise<pg.QueryResult>;

const baselineDecimals: ReadonlySet<string> = new Set(["value", "netFlows", "units", "shift"]);
const restrictionDecimals: ReadonlySet<string> = new Set(["factor", "base"]);

const referenceText = `
select distinct on (kind) kind, version, content::text as content from reference_version where set_us <= $1 order by kind, version desc`;
const envelopeText = `
select content from risk_envelope where fund_id = $1 and set_us <= $2 order by version desc limit 1`;
/** Buckets begin before the values in them, so those of the moment's own minute and second are looked at as well. */
const navText = `
select ${navColumns} from (
  (select * from treasury_nav where fund_id = $1 and every = 'second' and bucket_us <= $2 and at_us <= $2 order by bucket_us desc limit 1)
  union all
  (select * from treasury_nav where fund_id = $1 and every = 'minute' and bucket_us <= $2 and at_us <= $2 order by bucket_us desc limit 1)) n
order by at_us desc limit 1`;
const haltsText = `
select content::text as content from halt where since_us <= $1 and (lifted_us is null or lifted_us > $1) order by epoch`;
const restrictionsText = `
select content from restriction where since_us <= $1 and (ended_us is null or ended_us > $1) and (fund_id is null or fund_id = $2)
order by since_us, restriction_id limit 1000`;
const baselinesText = `
select content from loss_baseline where fund_id = $1 and set_us <= $2
order by set_us desc, limit_name, strategy_id, period desc, version desc limit 1000`;

/** Up to the first decision after the moment: what was recorded by then stands before it, if clocks differ by no more than they may. */
const journalText = (ofFund: string): string => `
select ${entryColumns} from risk_journal
where id > $1 and at_us <= $2 and (kind <> 1 or approved) and ($3::bigint is null or id <= $3) ${ofFund}
  and id < coalesce((select id from risk_journal where id > (select risk_journal_before($4)) and kind = 1 order by id limit 1), 9223372036854775807)
order by id limit $5`;

export function pastBooks(ask: Ask): Pick<ReplayQueries, "standing" | "booksBefore" | "keepBooks" | "journal"> {
  return {
    standing: (fundId, at) => standingOf(ask, fundId, at),
    async booksBefore(at) {
      const found = await ask(
        "select through, at_us, engine, costs::text as costs from kept_books where at_us <= $1 order by at_us desc limit 1",
        [at],
      );
      const [row] = found.rows;
      if (row === undefined) return undefined;
      return { through: BigInt(row.through), at: instantOf(row.at_us), engine: row.engine, costs: row.costs };
    },
    async keepBooks({ through, at, engine, costs }, forgetBefore) {
      const bytes = Buffer.from(engine.buffer, engine.byteOffset, engine.byteLength);
      await ask(
        "insert into kept_books (through, at_us, engine, costs) values ($1, $2, $3, $4) on conflict do nothing",
        [String(through), at, bytes, costs],
      );
      await ask("delete from kept_books where at_us < $1", [forgetBefore]);
    },
    async journal({ fundId, after, through, at, countMax }) {
      const values = [String(after), at, through === undefined ? null : String(through), at + clockSlackUs, countMax];
      const ofFund = fundId === undefined ? "" : "and fund_id = $6";
      const found = await ask(journalText(ofFund), fundId === undefined ? values : [...values, storableId(fundId)]);
      return (found.rows as readonly RawEntry[]).map(rowOf);
    },
  };
}

async function standingOf(ask: Ask, fundId: string, at: Instant): Promise<Standing> {
  const documents = new Map((await ask(referenceText, [at])).rows.map((row) => [row.kind as string, row]));
  const envelope = (await ask(envelopeText, [storableId(fundId), at])).rows[0]?.content;
  const nav = (await ask(navText, [columnOfText(fundId), at])).rows.map(navOf)[0];
  const halts = (await ask(haltsText, [at])).rows.map(({ content }) => parseJson(content));
  const restrictions = (await ask(restrictionsText, [at, columnOfText(fundId)])).rows;
  const baselines = (await ask(baselinesText, [storableId(fundId), at])).rows;
  return {
    reference: referenceOf(0, (kind) => {
      const row = documents.get(kind);
      return row && { version: Number(row.version), content: parseJson(row.content) };
    }),
    envelope,
    nav,
    halts: halts as Standing["halts"],
    restrictions: restrictions.map(({ content }) => fromStored<NewRestriction>(content, restrictionDecimals)),
    baselines: baselines.map(({ content }) => fromStored<Baseline>(content, baselineDecimals)),
  };
}

function instantOf(microseconds: string): Instant {
  return fromMicroseconds(Number(microseconds));
}
