// Restrictions, in a transaction.
import * as decimal from "../../../contracts/src/decimal.ts";
import { Defect } from "../../../contracts/src/fault.ts";
import type { NewRestriction, Restriction } from "../../../contracts/src/records/restriction.ts";
import { restrictionComplaint } from "../../../core/blocks/restriction.ts";
import type { RestrictionRecords } from "../../../ports/restriction-records.ts";
import { fromStored, toStored } from "../../records/stored-decimals.ts";
import { columnOfText } from "../exact-text.ts";
import type { Sql } from "../store-transaction.ts";

const decimals = new Set(["factor", "base"] satisfies (keyof Restriction)[]);

interface Row {
  readonly content: unknown;
  readonly ended: unknown;
}

export const restrictionsOf = (rows: readonly unknown[]): Restriction[] =>
  (rows as readonly Row[]).map(({ content, ended }) =>
    fromStored<Restriction>(ended === null ? content : { ...(content as object), ended }, decimals),
  );

const nameOf = (name: string | undefined): string | null => (name === undefined ? null : columnOfText(name));

export function restrictionRecords(sql: Sql): RestrictionRecords {
  return {
    open: (restriction) => open(sql, restriction),
    async end(restrictionIds, ending) {
      const ended = await sql.write({
        name: "restriction_end",
        text: `with open as (
                 select restriction_id from restriction
                 where restriction_id = any($1::text[]) and ended_us is null order by restriction_id for update
               ), done as (
                 update restriction set ended_us = $2, ended = $3
                 where ended_us is null and restriction_id in (select restriction_id from open)
                 returning since_us, restriction_id, content, ended
               )
               select content, ended from done order by since_us, restriction_id`,
        values: [restrictionIds.map(columnOfText), ending.at, JSON.stringify(ending)],
      });
      return restrictionsOf(ended.rows);
    },
    async lock(restrictionId) {
      const found = await sql.write({
        name: "restriction_lock",
        text: "select content, ended from restriction where restriction_id = $1 for update",
        values: [columnOfText(restrictionId)],
      });
      return restrictionsOf(found.rows)[0];
    },
    ...lists(sql),
  };
}

async function open(sql: Sql, restriction: NewRestriction): Promise<Restriction> {
  const complaint = restrictionComplaint(restriction);
  if (complaint !== undefined) throw new Defect(complaint);
  const { kind, fundId, strategyId, symbol, factor, base } = restriction;
  const scope = [columnOfText(restriction.episodeId), kind, nameOf(fundId), nameOf(strategyId), nameOf(symbol)];
  await sql.write({
    name: "restriction_open",
    text: `insert into restriction (episode_id, kind, fund_id, strategy_id, symbol, restriction_id, watchdog, since_us, factor, base, content)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
           on conflict (episode_id, kind, coalesce(fund_id, ''), coalesce(strategy_id, ''), coalesce(symbol, '')) do nothing`,
    values: [
      ...scope,
      columnOfText(restriction.restrictionId),
      restriction.watchdog,
      restriction.since,
      factor === undefined ? null : decimal.format(factor),
      base === undefined ? null : decimal.format(base),
      toStored(restriction),
    ],
  });
  const kept = await sql.write({
    name: "restriction_opened",
    text: `select content, ended from restriction
           where episode_id = $1 and kind = $2 and coalesce(fund_id, '') = coalesce($3, '')
             and coalesce(strategy_id, '') = coalesce($4, '') and coalesce(symbol, '') = coalesce($5, '') for update`,
    values: scope,
  });
  const [first] = restrictionsOf(kept.rows);
  if (first === undefined) throw new Defect(`the restriction ${restriction.restrictionId} was not kept`);
  return first;
}

function lists(sql: Sql): Pick<RestrictionRecords, "list" | "listOpen" | "ofEpisode"> {
  return {
    async listOpen() {
      const found = await sql.read({
        name: "restriction_list_open",
        text: "select content, ended from restriction where ended_us is null order by since_us, restriction_id",
      });
      return restrictionsOf(found.rows);
    },
    async ofEpisode(episodeId) {
      const found = await sql.read({
        name: "restriction_of_episode",
        text: "select content, ended from restriction where episode_id = $1 order by since_us, restriction_id",
        values: [columnOfText(episodeId)],
      });
      return restrictionsOf(found.rows);
    },
    async list({ fundId, openOnly, countMax, afterRestrictionId }) {
      const found = await sql.read({
        name: "restriction_list",
        text: `select content, ended from restriction
               where ($1::text is null or fund_id is null or fund_id = $1) and (not $2 or ended_us is null)
                 and ($4::text is null or (since_us, restriction_id)
                   < (select since_us, restriction_id from restriction where restriction_id = $4))
               order by since_us desc, restriction_id desc limit $3`,
        values: [nameOf(fundId), openOnly, countMax, nameOf(afterRestrictionId)],
      });
      return restrictionsOf(found.rows);
    },
  };
}
