// What a risk engine must know all the time, in one statement. It goes over the pool and not over the connection that is kept for the halts: where one of
// these tables is locked the statement waits, and the halts are read past it.
import type pg from "pg";
import type { SafetyFacts, SafetyQuestion, SafetyReads } from "../../../ports/safety-reads.ts";
import { unauditedQuestion } from "../queries/unaudited-changes.ts";
import { storeFault } from "../store-fault.ts";
import { standingOf } from "../units/audit-standing.ts";
import { restrictionsOf } from "../units/restrictions.ts";

/** Whoever shows them names fewer. */
const unauditedMax = 4;

interface Part<Question extends SafetyQuestion> {
  /** Gives one JSON value, or null. */
  readonly text: (firstParameter: number) => string;
  readonly values: readonly unknown[];
  read(value: unknown): SafetyFacts[Question];
}

const listOf = (columns: string, from: string): string =>
  `select coalesce(json_agg(${columns}), '[]') from (${from}) listed`;

const parts: { readonly [Question in SafetyQuestion]: Part<Question> } = {
  restrictions: {
    text: () =>
      listOf(
        "listed",
        "select content, ended from restriction where ended_us is null order by since_us, restriction_id",
      ),
    values: [],
    read: (value) => restrictionsOf(value as readonly unknown[]),
  },
  audit: {
    text: () =>
      `select json_build_object('epoch', pen::text, 'through_us', through_us::text, 'broken', broken, 'broken_us', broken_us::text)
       from audit_standing`,
    values: [],
    read: (value) => (value === null ? undefined : standingOf(value as Parameters<typeof standingOf>[0])),
  },
  unaudited: {
    text: (first) => listOf("listed", unauditedQuestion.text(first)),
    values: unauditedQuestion.values(unauditedMax),
    read: (value) => (value as Parameters<typeof unauditedQuestion.read>[0][]).map(unauditedQuestion.read),
  },
  blocks: {
    text: () =>
      `select json_build_object(
         'confirmed', array(select content from reconcile_difference where status = 'CONFIRMED' order by first_seen_us, difference_id),
         'underWay', array(select content from corporate_action where state in ('ANNOUNCED', 'APPLIED') order by announced_us, action_id))`,
    values: [],
    read: (value) => value as SafetyFacts["blocks"],
  },
};

export function createSafetyReads(pool: pg.Pool): SafetyReads {
  return {
    async read(questions) {
      const asked = [...questions].sort();
      const values: unknown[] = [];
      const columns = asked.map((question) => {
        const column = `(${parts[question].text(values.length + 1)}) as ${question}`;
        values.push(...parts[question].values);
        return column;
      });
      const text = `select ${[...columns, "epoch"].join(",\n")} from halt_epoch`;
      const name = `safety_${asked.join("_")}`;
      const found = await pool.query({ name, text, values }).catch((thrown: unknown) => {
        throw storeFault(thrown, "reading halts and what is beside them");
      });
      const row = found.rows[0] as Readonly<Record<string, unknown>>;
      const facts = Object.fromEntries(asked.map((question) => [question, parts[question].read(row[question])]));
      return { haltEpoch: Number(row["epoch"]), facts };
    },
  };
}
