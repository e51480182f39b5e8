// The form in which declarations of operations are generated from the protos (contracts/src/generated/routes.ts and shapes.ts): routes, and the
// messages that they take and answer, with what their fields may hold. contracts/proto/portcullis/v1/options.proto says what each member means.
import type { Operation } from "./authority.ts";

export interface DeclaredRoute {
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly listener: "operator" | "public";
  readonly sentence: string;
  readonly operation: Operation;
  readonly service: string;
  readonly procedure: string;
  /** The names of the messages. */
  readonly request: string;
  readonly answer: string;
  readonly status: number;
  readonly form: "json" | "text" | "bytes" | "events";
  /** The member of the answer that the caller gets, where the caller does not get all of it. */
  readonly reported?: string;
  readonly timeoutMs?: number;
  readonly attemptsPerMinuteMax?: number;
  /** The member of a row, with dots, that the next page begins after. */
  readonly pageAfter?: string;
  /** The member of the answer that has the rows, where the caller gets more than them. */
  readonly pageRows?: string;
  /** The code that is 412 when the caller named a version by If-Match. */
  readonly ifMatchConflict?: string;
  /** Done again after it was cut off, it comes to the same. */
  readonly repeatable?: true;
  /** The gateway has a handler of its own. */
  readonly custom?: true;
  /** It is left behind; dates such as 2026-11-15. */
  readonly deprecated?: { readonly since: string; readonly sunset: string; readonly instead: string };
}

type FieldKind =
  | "ID"
  | "SYMBOL"
  | "CURRENCY"
  | "DECIMAL"
  | "INSTANT"
  | "DATE"
  | "MOMENT"
  | "LINE"
  | "HASH"
  | "COUNT"
  | "FACTS"
  | "PROOF";

export interface FieldShape {
  /** On the wire. */
  readonly name: string;
  /** In HTTP, where that is another. */
  readonly httpName?: string;
  readonly type: "text" | "number" | "whole" | "boolean" | "bytes" | "word" | "message" | "struct" | "map";
  /** Of a map: its members hold texts, and numbers where this is absent. */
  readonly ofTexts?: true;
  /** Of a message: its name. */
  readonly message?: string;
  readonly list?: true;
  readonly optional?: true;
  readonly description?: string;
  readonly kind?: FieldKind;
  readonly required?: true;
  readonly positive?: true;
  readonly nonNegative?: true;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxCount?: number;
  readonly pattern?: string;
  readonly expected?: string;
  readonly min?: number;
  readonly max?: number;
  readonly above?: number;
  readonly below?: number;
  readonly values?: readonly string[];
  readonly example?: string;
  readonly whenAbsent?: string | number | boolean;
  readonly omitEmpty?: true;
  readonly nullWhenAbsent?: true;
  readonly mayBeMissing?: true;
  readonly answerOnly?: true;
  readonly hidden?: true;
  /** A person may write it anew. */
  readonly typed?: true;
  /** Why it is taken as it is. */
  readonly asItIs?: string;
}

/** A field of a request that could hold any amount, or a message with such a field inside, as both doors read them from contracts/src/generated/bounds.ts. */
export interface BoundedField {
  readonly number: number;
  readonly name: string;
  readonly form: "text" | "list" | "map" | "free" | "message";
  /** Entries, members, values or characters. */
  readonly most?: number;
  /** Of free data: of its texts and names together. */
  readonly characters?: number;
  /** Of a message, or of each entry of a list. */
  readonly message?: string;
}

export interface MessageShape {
  readonly description?: string;
  /** Some operation is asked with it. */
  readonly isRequest?: true;
  readonly atLeastOneOf?: readonly string[];
  readonly fields: readonly FieldShape[];
}
