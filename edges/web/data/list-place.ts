// How a list is read: the shape that every entry of the table in lists.ts has.
import type { CallOptions } from "../../client/src/call-options.ts";
import type { Client } from "../../client/src/types.ts";

export interface ListPlace<Value> {
  read(client: Client, asked: Asked, call: CallOptions): Promise<Value>;
  /** Read again after this long, whatever happens. */
  readonly everyMs: number;
  /** Beginnings of topics that change it. */
  readonly topics: readonly string[];
  /** How the same is asked for on the command line. */
  command(asked: Asked): string;
  /** The operation of the API, as its reference names it. */
  readonly source: string;
}

/** What the address says, as far as a list depends on it. */
export interface Asked {
  readonly fund?: string | undefined;
  readonly symbol?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly of?: string | undefined;
}
