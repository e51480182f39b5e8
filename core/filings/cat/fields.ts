// What the fields of a CAT record hold before they are text.
import type { Instant } from "../../../contracts/src/instant.ts";

export interface CatTime {
  readonly time: Instant;
}

interface CatNumber {
  readonly number: string;
}

/** YYYY-MM-DD. */
interface CatDay {
  readonly date: string;
}

export type PairValue = true | CatTime | CatNumber | CatDay;

/** What a field holds before it is text. */
export type CatValue = string | boolean | CatTime | CatNumber | { readonly pairs: Readonly<Record<string, PairValue>> };

/** An absent member and an undefined one are the same. */
export type CatFields = Readonly<Record<string, CatValue | undefined>>;
