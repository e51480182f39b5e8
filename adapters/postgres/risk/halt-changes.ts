// What was halted and lifted: since an epoch, with what is in force at the same moment, and page by page into the past. Every latch and every lift makes exactly one epoch, so that a
// range of epochs is a page.

import type { Instant } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import type { HaltChange, HaltChanges, PastHalt } from "../../../ports/risk-queries.ts";

export const haltChangesText = `
select e.epoch,
  array(select content::text from halt where lifted_us is null order by halt.epoch) as active,
  array(select json_build_array(epoch, false, since_us, content::text)::text from halt
        where epoch > $1 and epoch <= $1::bigint + $2 order by epoch) as latched,
  array(select json_build_array(lifted_epoch, true, lifted_us, content::text)::text from halt
        where lifted_epoch > $1 and lifted_epoch <= $1::bigint + $2 order by lifted_epoch, epoch) as lifted
from halt_epoch e`;

interface HaltChangesRow {
  readonly epoch: string;
  readonly active: readonly string[];
  readonly latched: readonly string[];
  readonly lifted: readonly string[];
}

type ChangedHalt = readonly [epoch: number, lifted: boolean, atUs: number, content: string];

export function haltChangesOf(row: HaltChangesRow): HaltChanges {
  const byEpoch = new Map<number, HaltChange>();
  for (const text of [...row.latched, ...row.lifted]) {
    const [epoch, lifted, at, content] = parseJson(text) as ChangedHalt;
    const halts = [...(byEpoch.get(epoch)?.halts ?? []), haltOf(content)];
    byEpoch.set(epoch, { epoch, lifted, halts, at: at as Instant });
  }
  return {
    epoch: Number(row.epoch),
    active: row.active.map(haltOf),
    changes: [...byEpoch.values()].sort((one, other) => one.epoch - other.epoch),
  };
}

export interface PastHaltRow {
  readonly content: string;
  readonly lifted_us: string | null;
}

export function pastHaltOf(row: PastHaltRow): PastHalt {
  const halt = haltOf(row.content);
  return row.lifted_us === null ? { halt } : { halt, liftedAt: Number(row.lifted_us) as Instant };
}

function haltOf(content: string): ActiveHalt {
  return parseJson(content) as ActiveHalt;
}
