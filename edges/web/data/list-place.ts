// How a list is read: the shape that every entry of the table in lists.ts has.
import type { CallOptions } from "../../client/src/call-options.ts";
import type { Client } from "../../client/src/types.ts";

type ProcessName = "gateway" | "riskengine" | "operations" | "oms" | "treasury" | "research";

export interface ListPlace<Value> {
  /** `nowMs` is for ranges that reach back from now: the question stays the same while time goes on. */
  read(client: Client, asked: Asked, call: CallOptions, nowMs: number): Promise<Value>;
  /** The process that answers; the gateway where it answers by itself. */
  readonly process: ProcessName;
  /** Read again after this long, whatever happens; 0 where it is about the past and asked for a moment. */
  readonly everyMs: number;
  /** Beginnings of topics that change it. */
  readonly topics: readonly string[];
  /** Beginnings of the actions under which the audit log has these events; none where nothing of it is audited. */
  readonly actions: readonly string[];
  /** How the same is asked for on the command line. */
  command(asked: Asked): string;
  /** The operation of the API, as its reference names it. */
  readonly source: string;
}

/** As a flag of ctl has it; a range that begins at a moment has no such flag. */
export function hoursText({ from }: Asked, absent: number): string {
  const [, count, unit] = /^(\d{1,4})([hd])$/.exec(from ?? "") ?? [];
  return String(count === undefined ? absent : Number(count) * (unit === "d" ? 24 : 1));
}

/** What the address says, as far as a list depends on it. */
export interface Asked {
  readonly fund?: string | undefined;
  readonly symbol?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly of?: string | undefined;
  readonly strategy?: string | undefined;
  readonly status?: string | undefined;
  /** What the address opens, where a command is made of the address alone. */
  readonly show?: string | undefined;
  /** The moment that a question about the past is about: nothing later is asked for. */
  readonly at?: string | undefined;
  readonly interval?: string | undefined;
}

export const ofFund = ({ fund }: Asked): { readonly fundId?: string } => (fund === undefined ? {} : { fundId: fund });
export const fundFlag = ({ fund }: Asked): readonly string[] => (fund === undefined ? [] : ["--fund-id", fund]);
