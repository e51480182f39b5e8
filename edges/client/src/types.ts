// The client's methods as types, made from the generated OpenAPI types: one method per operation, its path, query and body
// parameters together in one object with camelCase names, its answer as the server sends it.
import type { operations } from "./generated/api.ts";

export type OperationId = keyof operations;

type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

type CamelKeys<Value> = { [Key in keyof Value as Key extends string ? CamelCase<Key> : never]: Value[Key] };

type Group<Operation, Name extends "path" | "query"> = Operation extends { parameters: { [Key in Name]: infer Value } }
  ? Value
  : Operation extends { parameters: { [Key in Name]?: infer Value } }
    ? Exclude<Value, undefined>
    : unknown;

type Body<Operation> = Operation extends { requestBody: { content: { "application/json": infer Value } } }
  ? Value
  : Operation extends { requestBody?: { content: { "application/json": infer Value } } }
    ? Partial<Value>
    : unknown;

/** A group that an operation does not have is `never` in the generated types, and adds nothing here. */
type Given<Value> = [Value] extends [never] ? unknown : Value;

type Flat<Value> = { [Key in keyof Value]: Value[Key] };

export type ArgumentsOf<Id extends OperationId> = Flat<
  CamelKeys<Given<Group<operations[Id], "path">> & Given<Group<operations[Id], "query">> & Given<Body<operations[Id]>>>
>;

type ContentOf<Response> = Response extends { content: infer Content } ? Content[keyof Content] : never;

type Responses<Id extends OperationId> = operations[Id]["responses"];

/** What a call resolves to: the answer of any status below 300. */
export type AnswerOf<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: Status extends 200 | 201 ? ContentOf<Responses<Id>[Status]> : never;
}[keyof Responses<Id>];

export interface CallOptions {
  /** Gives up when it aborts; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Instead of the client's own bound. */
  readonly timeoutMs?: number;
  /** Reported the headers of an answer that is no problem. */
  readonly onHeaders?: (headers: Headers) => void;
}

type Method<Id extends OperationId> =
  Record<never, never> extends ArgumentsOf<Id>
    ? (given?: ArgumentsOf<Id>, options?: CallOptions) => Promise<AnswerOf<Id>>
    : (given: ArgumentsOf<Id>, options?: CallOptions) => Promise<AnswerOf<Id>>;

export type Client = { readonly [Id in OperationId]: Method<Id> };
